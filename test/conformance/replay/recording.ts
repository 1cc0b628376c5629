import { isDeepStrictEqual } from 'node:util';
import type { WirePodStatus } from '../../../src/index.ts';
import { comparable } from './canonical.ts';
import { withoutDisruptionTime } from './disruption-times.ts';
import { type Attempt, type Contradiction, RecordedCalls, type StoredPod } from './recorded-calls.ts';
import type { Expectation, ResizeConditions, ServerPod, Step, Write } from './replay-scenario.ts';
import type { World } from './replay-world.ts';

/** What upstream did in one step, completed: a recorded outcome leaves out what did not change. */
export interface Expected {
  readonly changed: boolean | undefined;
  readonly result: unknown;
  readonly notifications: NonNullable<Expectation['notifications']>;
  readonly cache: Readonly<Record<string, WirePodStatus>>;
  /** What a real server would hold: see `asOnARealServer`. */
  readonly server: Readonly<Record<string, ServerPod>>;
  /** What the oracle's server held. */
  readonly recorded: Readonly<Record<string, ServerPod>>;
  readonly resizeConditions: ResizeConditions;
  readonly writes: readonly Write[];
  readonly attempts: ReadonlyMap<string, Attempt>;
  readonly contradictions: readonly Contradiction[];
}

/** What else is known of a step. */
export interface StepContext {
  readonly seconds: readonly string[];
  /** What the operation made of its pod's status, by uid, where that is known: the entry may be gone when the step ends. */
  readonly written: Readonly<Record<string, WirePodStatus>>;
}

/** Operations that give a pod another status. */
const updates: ReadonlySet<string> = new Set([
  'setPodStatus',
  'setContainerReadiness',
  'setContainerStartup',
  'terminatePod',
  'reconcilePodReadiness',
]);

/** Follows the recording of one scenario, step by step, and checks that it does not contradict itself. */
export class Recording {
  readonly #world: World;
  readonly #conditionOrder: boolean;
  #cache: Expected['cache'] = {};
  #resizeConditions: ResizeConditions = {};
  #server: ReadonlyMap<string, StoredPod> = new Map();

  /** With `conditionOrder` false, a write that only moves conditions does not count. */
  constructor(world: World, conditionOrder: boolean) {
    this.#world = world;
    this.#conditionOrder = conditionOrder;
  }

  next(step: Step, { seconds, written }: StepContext): Expected {
    const { changed, result, notifications = [], cache = this.#cache } = step.expect;
    const { resizeConditions = this.#resizeConditions } = step.expect;
    const before = Object.entries(this.#cache).filter(([uid]) => uid !== step.podUID || !updates.has(step.op));
    const calls = new RecordedCalls(step, this.#server, {
      conditionOrder: this.#conditionOrder,
      cache: { ...Object.fromEntries(before), ...written, ...cache },
      seconds,
      couldRun: this.#world.couldRun,
    });
    for (const call of step.expect.calls ?? []) calls.take(call);
    const held = podsOf(this.#server, ({ status }) => status);
    this.#server = calls.endWith(step.expect.server ?? held);
    const server = podsOf(this.#server, ({ kept }) => kept);
    const recorded = podsOf(this.#server, ({ status }) => status);
    const { writes, attempts } = calls;
    const strangers = [...Object.keys(cache), ...notifications.map(({ podUID }) => podUID)].filter(
      (uid) => !this.#world.podOf(uid),
    );
    const unknown = strangers.map((uid): Contradiction => ({ pod: '', expected: 'a pod of this scenario', got: uid }));
    const contradictions = [...calls.contradictions, ...this.#unexplainedChanges(step, cache), ...unknown];
    this.#cache = cache;
    this.#resizeConditions = resizeConditions;
    return { changed, result, notifications, cache, server, recorded, resizeConditions, writes, attempts, contradictions };
  }

  /** Cached statuses that changed although no operation of this step is about them. The time of a DisruptionTarget is the merge's to change (D6). */
  #unexplainedChanges({ op, podUID }: Step, cache: Expected['cache']): Contradiction[] {
    const own = podUID !== undefined && updates.has(op) ? this.#world.podOf(podUID) : undefined;
    return Object.entries(cache).flatMap(([uid, status]) => {
      const pod = this.#world.podOf(uid);
      const before = this.#cache[uid];
      if (pod === undefined || pod === own || before === undefined) return [];
      const [expected, got] = [before, status].map((each) => comparable(withoutDisruptionTime(each), true));
      return isDeepStrictEqual(expected, got) ? [] : [{ pod, expected, got }];
    });
  }
}

function podsOf(server: ReadonlyMap<string, StoredPod>, statusOf: (pod: StoredPod) => WirePodStatus): Record<string, ServerPod> {
  const pods = Array.from(
    server,
    ([name, pod]) => [name, { uid: pod.uid, deleting: pod.deleting, status: statusOf(pod) }] as const,
  );
  return Object.fromEntries(pods);
}

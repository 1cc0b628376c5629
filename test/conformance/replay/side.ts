import { isDeepStrictEqual } from 'node:util';
import type { WirePodStatus } from '../../../src/index.ts';
import { pruned } from './canonical.ts';
import { untimed } from './masks.ts';
import type { Outcome } from './play-scenario.ts';
import { PodCopies } from './pod-copies.ts';
import type { Expected } from './recording.ts';
import type { ResizeConditions, ServerPod, Step } from './replay-scenario.ts';
import { noteFinished, type World } from './replay-world.ts';
import { resized } from './resize-rules.ts';
import { terminated } from './termination-rules.ts';

/** What a side did in one step. */
type Done = Pick<Expected | Outcome, 'cache' | 'notifications' | 'resizeConditions' | 'result'>;

/** What else is known of a step. */
interface RulesContext {
  /** The second of the step. */
  readonly now: string;
  /** The operation's answer is recorded. */
  readonly isAnswered: boolean;
  /** The statuses that the side has stored, by uid. */
  readonly stored: Readonly<Record<string, WirePodStatus>>;
}

/** Something that a side did against upstream's rules, whatever it began with. No rule excuses it. */
interface Breach {
  readonly pod: string;
  readonly of: 'cache' | 'resizes';
  readonly expected: unknown;
  readonly got: unknown;
}

/** One side as it was when the step began. */
export class Side {
  readonly copies: PodCopies;
  /** The uids of the finished entries: `terminatePod` was called, so the pod may be deleted. */
  readonly finished = new Set<string>();
  readonly #world: World;
  #cache: Expected['cache'] = {};
  #resizeConditions: ResizeConditions = {};

  constructor(world: World) {
    this.#world = world;
    this.copies = new PodCopies(world);
  }

  get cache(): Expected['cache'] {
    return this.#cache;
  }

  get resizeConditions(): ResizeConditions {
    return this.#resizeConditions;
  }

  /** What was done against the rules in this step. */
  breaches(step: Step, done: Done, context: RulesContext): Breach[] {
    return [...this.#falseCache(step, done, context), ...this.#falseResizes(step, done, context)];
  }

  /** The step is over. `server` is what the side's server holds. */
  end(step: Step, { cache, resizeConditions }: Done, server: Readonly<Record<string, ServerPod>>): void {
    this.copies.note(step, server);
    this.#cache = cache;
    this.#resizeConditions = resizeConditions;
  }

  noteFinished(notifications: Done['notifications']): void {
    noteFinished(this.finished, notifications);
  }

  /** A status that was taken is in the cache as the operation makes it. */
  #falseCache(step: Step, { notifications }: Done, { stored }: RulesContext): Breach[] {
    const { podUID = '' } = step;
    const pod = this.#world.podOf(podUID);
    const got = stored[podUID];
    const isTaken = notifications.some((notification) => notification.podUID === podUID);
    const expected = isTaken && got !== undefined ? this.#made(step, podUID, got) : undefined;
    if (pod === undefined || expected === undefined || isDeepStrictEqual(asSet(got), asSet(expected))) return [];
    return [{ pod, of: 'cache', expected, got }];
  }

  /** The status that the operation makes; undefined where that is not known. */
  #made({ op, status, withResizeConditions }: Step, podUID: string, got: WirePodStatus | undefined): WirePodStatus | undefined {
    const before = this.#cache[podUID];
    const own = withResizeConditions ? (this.#resizeConditions[podUID] ?? []) : [];
    if (op === 'setPodStatus') return { ...status, conditions: [...own, ...(status?.conditions ?? [])] };
    const object = this.#world.object(podUID);
    const copy = this.copies.get(podUID)?.status;
    if (before === undefined || object === undefined) return undefined;
    if (op === 'terminatePod' && copy) return terminated(object, copy, before, this.#world.isStatic(podUID));
    return op === 'reconcilePodReadiness' ? withReadinessOf(got, before) : undefined;
  }

  /** The resize conditions follow from those before, and from the pod manager's copy. An entry that goes takes them along. */
  #falseResizes(step: Step, done: Done, { now, isAnswered }: RulesContext): Breach[] {
    const held = [this.#resizeConditions, done.resizeConditions].flatMap(Object.keys);
    const podUIDs = new Set([...held, ...namedForResizes(step)]);
    return [...podUIDs].flatMap((podUID): Breach[] => {
      const pod = this.#world.podOf(podUID);
      if (pod === undefined) return [];
      const before = this.#resizeConditions[podUID] ?? [];
      const own = resized(step, { podUID, before, copy: this.copies.get(podUID)?.status, now });
      if (own === undefined && !(podUID in done.resizeConditions) && this.#hasDropped(podUID, step, done)) return [];
      const result = isAnswered && step.podUID === podUID && own !== undefined;
      const expected = pruned({ conditions: own?.conditions ?? before, result: result ? own.result : undefined });
      const got = pruned({ conditions: done.resizeConditions[podUID], result: result ? done.result : undefined });
      return isDeepStrictEqual(expected, got) ? [] : [{ pod, of: 'resizes', expected, got }];
    });
  }

  /** The entry is gone, or its pod was an orphan, of which our manager drops the resize conditions even without an entry. */
  #hasDropped(podUID: string, step: Step, { cache }: Done): boolean {
    const isEnded = podUID in this.#cache || step.podUID === podUID || step.op === 'removeOrphanedStatuses';
    return isEnded && !(podUID in cache);
  }
}

/** The status with the readiness of another: the only thing that the look at a gate changes. */
function withReadinessOf(other: WirePodStatus | undefined, status: WirePodStatus): WirePodStatus {
  const ready = other?.conditions?.find(({ type }) => type === 'Ready');
  const conditions = status.conditions?.map((condition) => (condition.type === 'Ready' && ready ? ready : condition)) ?? [];
  const isNew = ready !== undefined && !conditions.includes(ready);
  return { ...status, conditions: isNew ? [...conditions, ready] : conditions };
}

/** The pods that an operation on resize conditions is about. */
function namedForResizes({ op, podUID = '', podUIDs = [] }: Step): string[] {
  return op.includes('PodResize') ? [podUID, ...podUIDs] : [];
}

/** A status without what an update changes: order of containers, times, observed generation, long messages. */
function asSet({ observedGeneration: _, ...status }: WirePodStatus = {}): unknown {
  const sorted = (list: WirePodStatus['containerStatuses']): unknown => list?.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const lists = {
    containerStatuses: sorted(status.containerStatuses),
    initContainerStatuses: sorted(status.initContainerStatuses),
    ephemeralContainerStatuses: sorted(status.ephemeralContainerStatuses),
  };
  const cut = JSON.stringify(untimed({ ...status, ...lists } as WirePodStatus), (key, value: unknown) =>
    key === 'message' && typeof value === 'string' ? value.slice(0, 500) : value,
  );
  return pruned(JSON.parse(cut));
}

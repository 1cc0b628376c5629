import type { Pod, PodStatus, WirePodStatus } from '../../../src/api/json/types.ts';
import { silentLogger } from '../../../src/base/logging/logger.ts';
import { nodePressure } from '../../../src/kubelet/admission/pod-admission.ts';
import { EvictionManager } from '../../../src/kubelet/eviction/eviction-manager.ts';
import { defaultEvictionSettings, resolveEvictionSettings } from '../../../src/kubelet/eviction/eviction-settings.ts';
import type { Reclaimable } from '../../../src/kubelet/eviction/thresholds.ts';
import type { NodeUsage, PodUsage, Supply } from '../../../src/kubelet/eviction/usage.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import type { EvictionCase, EvictionOutcome, EvictionStep, Frees, RecordedEvent, RecordedUsage } from './eviction-case.ts';

type Settings = ReturnType<typeof settingsOf>;
type Killed = NonNullable<EvictionOutcome['killed']>[number];

/** Plays the case with our eviction manager. Resolves to what each step led to, in the form of the recording. */
export async function playEviction({ config, steps }: EvictionCase): Promise<EvictionOutcome[]> {
  const settings = settingsOf(config);
  try {
    resolveEvictionSettings(settings);
  } catch {
    return steps.map((_step, index) => (index === 0 ? { refused: true } : {}));
  }
  const node = new ScriptedNode(config, settings);
  const outcomes: EvictionOutcome[] = [];
  for (const step of steps) outcomes.push(await node.play(step));
  return outcomes;
}

function settingsOf(config: EvictionCase['config']) {
  const graceSeconds = Object.entries(config.softGraceSeconds ?? {});
  return {
    ...defaultEvictionSettings,
    evictionHard: config.evictionHard ?? {},
    evictionSoft: config.evictionSoft ?? {},
    evictionSoftGracePeriodMs: Object.fromEntries(graceSeconds.map(([signal, seconds]) => [signal, seconds * 1000])),
    evictionMinimumReclaim: config.evictionMinimumReclaim ?? {},
    evictionMaxPodGracePeriodSeconds: config.maxPodGraceSeconds,
    evictionPressureTransitionPeriodMs: config.transitionSeconds * 1000,
    localStorageCapacityIsolation: config.localStorageCapacityIsolation,
  };
}

/** A node whose numbers are those of the steps, and all that the manager asks. */
class ScriptedNode {
  readonly #clock = new FakeClock();
  readonly #manager: EvictionManager;
  readonly #layout: Pick<NodeUsage, 'hasDedicatedImagefs' | 'hasSplitContainerfs'>;
  #supplies: Record<string, Supply> = {};
  #pods: readonly Pod[] = [];
  #usages: ReadonlyMap<string, PodUsage> = new Map();
  #frees: Frees = {};
  #killed: Killed[] = [];
  #events: RecordedEvent[] = [];
  #reclaimed: string[] = [];

  constructor(config: EvictionCase['config'], settings: Settings) {
    this.#layout = { hasDedicatedImagefs: config.dedicatedImagefs, hasSplitContainerfs: config.splitContainerfs };
    this.#manager = new EvictionManager({
      ...settings,
      isAllocatableEnforced: config.allocatable,
      maxPodGracePeriodSeconds: settings.evictionMaxPodGracePeriodSeconds,
      transitionPeriodMs: settings.evictionPressureTransitionPeriodMs,
      readNode: async () => ({ ...this.#supplies, ...this.#layout }),
      readPods: async () => this.#usages,
      activePods: () => this.#pods,
      killPod: async (pod, { gracePeriodSeconds = -1, podStatusFn }) => {
        const status = structuredClone(pod.status ?? {}) as WirePodStatus;
        podStatusFn?.(status);
        this.#killed.push({ pod: pod.metadata?.name ?? '', gracePeriodSeconds, status: withoutTimes(status) });
        this.#pods = this.#pods.filter((other) => other !== pod);
      },
      isCleanedUp: () => true,
      reclaim: async (what) => this.#reclaim(what),
      eventRecorder: {
        event: (pod, _type, reason, message, _fieldPath, annotations) => {
          const more = annotations !== undefined && Object.keys(annotations).length > 0 ? { annotations } : {};
          this.#events.push({ about: pod.metadata?.name ?? '', reason, message, ...more });
        },
      },
      nodeEvent: (reason, message) => this.#events.push({ about: 'node', reason, message }),
      clock: this.#clock,
      logger: silentLogger,
    });
  }

  async play(step: EvictionStep): Promise<EvictionOutcome> {
    await this.#clock.advance((step.seconds ?? 0) * 1000);
    const { pressures } = this.#manager;
    if (step.op === 'admit') {
      const refusal = nodePressure({ pod: step.pod, others: [], node: {}, pressures });
      return { admission: { admit: refusal === undefined, ...refusal } };
    }
    if (step.node) this.#supplies = structuredClone(step.node) as Record<string, Supply>;
    if (step.pods) this.#pods = step.pods;
    if (step.usage) this.#usages = new Map(Object.entries(step.usage).map(([uid, usage]) => [uid, usageOf(usage)]));
    this.#frees = step.frees ?? {};
    [this.#killed, this.#events, this.#reclaimed] = [[], [], []];
    const evicted = await this.#manager.look(new AbortController().signal);
    const under = Object.entries(this.#manager.pressures).filter(([, is]) => is);
    const told = {
      evicted: evicted.map(({ metadata }) => metadata?.name ?? ''),
      killed: this.#killed,
      events: this.#events,
      reclaimed: this.#reclaimed,
      pressures: under.map(([name]) => name),
    };
    return Object.fromEntries(Object.entries(told).filter(([, list]) => list.length > 0));
  }

  #reclaim(what: Reclaimable): void {
    this.#reclaimed.push(what);
    if (this.#frees[`${what}Fail`]) throw new Error(`${what} stay`);
    for (const [name, { available }] of Object.entries(this.#frees[what] ?? {})) {
      const supply = this.#supplies[name];
      if (supply !== undefined) this.#supplies[name] = { ...supply, available: supply.available + available };
    }
  }
}

function usageOf({ containers, ...usage }: RecordedUsage): PodUsage {
  const byName = Object.fromEntries(containers.map(({ name, ...container }) => [name, container]));
  return { ...usage, volumes: usage.volumes ?? {}, memoryVolumes: usage.memoryVolumes ?? {}, containers: byName };
}

/** As the recorder leaves conditions: the time is the clock's. */
function withoutTimes({ conditions, ...status }: WirePodStatus): PodStatus {
  const noTimes = { lastProbeTime: null, lastTransitionTime: null };
  return {
    ...status,
    ...(conditions && { conditions: conditions.map((one) => ({ ...one, ...noTimes })) }),
  } as unknown as PodStatus;
}

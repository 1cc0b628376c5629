import { isDeepStrictEqual } from 'node:util';
import type { WirePod } from '../../../src/api/json/types.ts';
import { silentLogger } from '../../../src/base/logging/logger.ts';
import { Nominator } from '../../../src/scheduler/cache/nominator.ts';
import { SchedulerCache } from '../../../src/scheduler/cache/scheduler-cache.ts';
import { createPodInfo } from '../../../src/scheduler/nodes/pod-info.ts';
import { steadyTime } from '../../../src/scheduler/queue/backoff-queue.ts';
import { ClusterChanges } from '../../../src/scheduler/queue/cluster-changes.ts';
import type { QueuedPodInfo } from '../../../src/scheduler/queue/queued-pod-info.ts';
import { SchedulingQueue } from '../../../src/scheduler/queue/scheduling-queue.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import { queueProfile } from './profile.ts';
import type { QueueCase, QueueOutcome, QueueStep, WaitingPod } from './queue-case.ts';

const schedulerName = 'default-scheduler';

/** Plays the case with our queue. Resolves to what each step led to, in the form of the recording. */
export async function playQueue({ steps }: QueueCase): Promise<QueueOutcome[]> {
  const world = new QueueWorld();
  const outcomes: QueueOutcome[] = [];
  let before: QueueOutcome = {};
  for (const step of steps) {
    const told = step.op === 'advance' ? await world.advance(step.seconds * 1000) : world.play(step);
    // as in the recording, no two steps are at one time
    await world.advance(1);
    const now = world.state();
    const changed = Object.entries(now).filter(
      ([member, value]) => !isDeepStrictEqual(value, before[member as keyof QueueOutcome]),
    );
    outcomes.push({ ...told, ...Object.fromEntries(changed) });
    before = now;
  }
  world.close();
  return outcomes;
}

class QueueWorld {
  readonly #clock = new FakeClock();
  readonly #start = this.#clock.now();
  readonly #cache = new SchedulerCache({ clock: this.#clock });
  readonly #profile = queueProfile(schedulerName);
  readonly #queue = new SchedulingQueue({
    profiles: [this.#profile],
    backoff: { initialMs: 1000, maxMs: 10_000 },
    maxInUnschedulableMs: 300_000,
    time: steadyTime(this.#clock),
    logger: silentLogger,
    onReady: () => {},
  });
  readonly #changes = new ClusterChanges({
    cache: this.#cache,
    queue: this.#queue,
    nominator: new Nominator(),
    createPodInfo,
    isResponsibleFor: (name) => name === schedulerName,
    onAssumedPodDeleted: () => {},
  });
  /** What the watch has brought, by name. */
  readonly #pods = new Map<string, WirePod>();
  readonly #inFlight: QueuedPodInfo[] = [];

  constructor() {
    this.#queue.start();
  }

  close(): void {
    this.#queue.close();
  }

  async advance(ms: number): Promise<QueueOutcome> {
    await this.#clock.advance(ms);
    return {};
  }

  play(step: Exclude<QueueStep, { op: 'advance' }>): QueueOutcome {
    if (step.op === 'pod.add' || step.op === 'pod.update') this.#setPod(step.pod, step.op === 'pod.add');
    else if (step.op === 'pod.delete') this.#deletePod(step.name);
    else if (step.op === 'node.add' || step.op === 'node.update') this.#changes.setNode(step.node);
    else if (step.op === 'node.delete') this.#changes.deleteNode(step.name);
    else if (step.op === 'activate') this.#queue.activate(this.#pods.get(step.name)?.metadata?.uid ?? '');
    else if (step.op === 'pop') return this.#pop();
    else return this.#end(step);
    return {};
  }

  state(): Required<Omit<QueueOutcome, 'pod' | 'attempts'>> {
    const { active, rejectedBackoff, errorBackoff, unschedulable, inFlight } = this.#queue.entries();
    const less = this.#profile.plugins.find((plugin) => plugin.less !== undefined)?.less;
    const inOrder = active.sort((first, second) => (less?.(first, second) === true ? -1 : 1));
    return {
      active: inOrder.map(nameOf),
      backoff: this.#ends(rejectedBackoff),
      errorBackoff: this.#ends(errorBackoff),
      unschedulable: Object.fromEntries(unschedulable.map((pod) => [nameOf(pod), waitingOf(pod)])),
      inFlight: inFlight.map(nameOf).sort(),
    };
  }

  #setPod(pod: WirePod, isNew: boolean): void {
    const name = pod.metadata?.name ?? '';
    const known = this.#pods.get(name);
    const isOld = (known?.spec?.nodeName ?? '') !== '' && (pod.spec?.nodeName ?? '') === '';
    if (!isNew && (known === undefined || isOld)) return;
    this.#pods.set(name, pod);
    this.#changes.setPod(pod);
  }

  #deletePod(name: string): void {
    const pod = this.#pods.get(name);
    if (pod === undefined) return;
    this.#pods.delete(name);
    this.#changes.deletePod(pod.metadata?.uid ?? '');
  }

  #pop(): QueueOutcome {
    const pod = this.#queue.pop();
    if (pod === undefined) return {};
    this.#inFlight.push(pod);
    return { pod: nameOf(pod), attempts: pod.attempts };
  }

  #end(step: Extract<QueueStep, { op: 'fail' | 'error' | 'bind' }>): QueueOutcome {
    const [pod] = this.#inFlight.splice(step.inFlight % (this.#inFlight.length || 1), 1);
    if (pod === undefined) return {};
    const { uid } = pod.podInfo;
    if (step.op === 'bind') this.#bind(pod, step.node);
    else {
      const { plugins = [], pending = [] } = step.op === 'fail' ? step : {};
      this.#queue.giveBack(uid, { unschedulablePlugins: plugins, pendingPlugins: pending });
    }
    return { pod: nameOf(pod) };
  }

  #bind(pod: QueuedPodInfo, nodeName: string): void {
    const { podInfo } = pod;
    this.#cache.assumePod(podInfo, nodeName);
    this.#queue.done(podInfo.uid);
    const known = this.#pods.get(podInfo.name);
    if (known === undefined) {
      this.#cache.forgetPod(podInfo, nodeName);
      return;
    }
    const resourceVersion = `${known.metadata?.resourceVersion}b`;
    const spec = { ...known.spec, containers: known.spec?.containers ?? [], nodeName };
    this.#setPod({ ...known, metadata: { ...known.metadata, resourceVersion }, spec }, false);
  }

  #ends(pods: readonly QueuedPodInfo[]): Record<string, number> {
    const endOf = ({ podInfo }: QueuedPodInfo): number => this.#queue.placeOf(podInfo.uid)?.backoffEnd ?? Number.NaN;
    return Object.fromEntries(pods.map((pod) => [nameOf(pod), (endOf(pod) - this.#start) / 1000]));
  }
}

function nameOf({ podInfo }: QueuedPodInfo): string {
  return podInfo.name;
}

function waitingOf({ unschedulablePlugins, pendingPlugins, gatedBy }: QueuedPodInfo): WaitingPod {
  return {
    ...(unschedulablePlugins.size > 0 && { plugins: [...unschedulablePlugins].sort() }),
    ...(pendingPlugins.size > 0 && { pending: [...pendingPlugins].sort() }),
    ...(gatedBy !== undefined && { gated: gatedBy }),
  };
}

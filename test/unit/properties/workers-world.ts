import type { Pod } from '../../../src/api/json/types.ts';
import type { RuntimePodStatus } from '../../../src/api/pod/runtime-pod.ts';
import { sleep } from '../../../src/base/clock.ts';
import type { PodSyncer } from '../../../src/node/workers/pod-syncer.ts';
import { PodWorkers } from '../../../src/node/workers/pod-workers.ts';
import { WorkQueue } from '../../../src/node/workers/work-queue.ts';
import { FakeClock, settle } from '../../../src/testing/fakes/fake-clock.ts';
import { type Operation, type Plan, podCount } from './workers-operations.ts';

interface OpenCall {
  readonly name: string;
  readonly grace: number | undefined;
  readonly signal: AbortSignal;
}

/** What one life of a uid has seen: from its first update until the workers forget it. */
interface Life {
  isEnding: boolean;
  hasStopped: boolean;
  /** A call of syncPod has said that the pod has come to its end. */
  isTerminal: boolean;
  grace: number | undefined;
  /** Only the runtime has known the pod: once it has ended, the workers forget it, and may begin anew at any time. */
  isOfRuntime: boolean;
  /** The runtime was seen to run the pod: it is stopped without waiting for its turn. */
  isObserved: boolean;
}

/** Pod workers under random orders, and a syncer that checks at each call what must hold. */
export class WorkersWorld {
  readonly clock = new FakeClock();
  readonly queue = new WorkQueue({ clock: this.clock });
  readonly violations: string[] = [];
  readonly #plans: Plan[];
  readonly #open = new Map<string, OpenCall>();
  readonly #lives = new Map<string, Life>();
  readonly #pods = new Map<string, Pod>();
  /** How often the completed of each kill was called. */
  readonly #completed: { readonly uid: string; count: number }[] = [];
  /** How each killPodNow came back. */
  readonly #killed: string[] = [];
  #kills = 0;
  #cacheFails = 0;
  #isStopped = false;
  readonly workers: PodWorkers;

  constructor(plans: readonly Plan[]) {
    this.#plans = [...plans];
    const podSyncer: PodSyncer = {
      syncPod: ({ pod }, signal) => this.#call('sync', pod.metadata?.uid, undefined, signal),
      syncTerminatingPod: async ({ pod, gracePeriodSeconds }, signal) => {
        await this.#call('terminating', pod.metadata?.uid, gracePeriodSeconds, signal);
      },
      syncTerminatingRuntimePod: async ({ uid }, signal) => {
        this.#life(uid).isOfRuntime = true;
        await this.#call('terminatingRuntime', uid, undefined, signal);
      },
      syncTerminatedPod: async ({ pod }, signal) => {
        await this.#call('terminated', pod.metadata?.uid, undefined, signal);
      },
    };
    this.workers = new PodWorkers({
      logger: null,
      podSyncer,
      runtimeStatusCache: { get: (uid) => this.#status(uid), getNewerThan: async (uid) => this.#status(uid) },
      workQueue: this.queue,
      clock: this.clock,
    });
  }

  async perform(operation: Operation): Promise<void> {
    switch (operation.op) {
      case 'update':
        this.#update(operation);
        break;
      case 'kill':
        this.#kill(operation);
        break;
      case 'runtimeKill': {
        const uid = `u${operation.pod}`;
        Object.assign(this.#life(uid), { isEnding: true, isObserved: true });
        this.workers.updatePod({ updateType: 'kill', runningPod: { uid, name: 'left', namespace: 'd' } });
        break;
      }
      case 'known':
        this.#known(operation.desired.map((pod) => `u${pod}`));
        break;
      case 'retry':
        this.#retry();
        break;
      case 'cacheFails':
        this.#cacheFails += operation.times;
        break;
      case 'advance':
        await this.clock.advance(operation.ms);
        break;
      case 'settle':
        await settle();
    }
    this.#checkAnswers();
  }

  /** Everything succeeds from now on, and the agent's loop does its work for a while, with these pods desired. */
  async quiet(desired: readonly string[]): Promise<void> {
    this.#plans.length = 0;
    this.#cacheFails = 0;
    for (let round = 0; round < 20; round += 1) {
      await this.clock.advance(100_000);
      this.#retry();
      this.#known(desired);
      await settle();
      this.#checkAnswers();
    }
    if (this.#open.size > 0) this.violations.push('a call is under way after all is quiet');
    for (const uid of this.#pods.keys()) this.#checkQuiet(uid, desired.includes(uid));
    for (const { uid, count } of this.#completed)
      if (count !== 1) this.violations.push(`${uid}: completed was called ${count} times`);
    if (this.#killed.length !== this.#kills) this.violations.push('a killPodNow has not come back');
  }

  async stop(): Promise<void> {
    const stopped = this.workers.stop({ timeoutMs: 1000 });
    this.#isStopped = true;
    this.queue.close();
    await this.clock.advance(1000);
    await stopped;
    if (this.workers.state !== 'stopped') this.violations.push('the workers have not stopped');
    // what does not heed its signal has timers of its own
    await this.clock.advance(200_000);
    if (this.clock.pendingTimers > 0) this.violations.push(`${this.clock.pendingTimers} timers are left`);
    for (const { uid, count } of this.#completed)
      if (count > 1) this.violations.push(`${uid}: completed was called ${count} times`);
    if (this.#killed.length !== this.#kills) this.violations.push('a killPodNow has not come back');
  }

  #update({ pod: number, type, deletion, phase }: Operation & { op: 'update' }): void {
    const uid = `u${number}`;
    const isStatic = number % 2 === 0;
    const pod: Pod = {
      metadata: {
        ...{ uid, name: isStatic ? `static-${number % 4}` : `pod-${number}`, namespace: 'd' },
        annotations: { 'kubernetes.io/config.source': isStatic ? 'file' : 'api' },
        ...(deletion !== undefined && { deletionTimestamp: '2000-01-01T00:00:00Z', deletionGracePeriodSeconds: deletion }),
      },
      ...(phase !== undefined && { status: { phase } }),
    };
    this.#pods.set(uid, pod);
    const life = this.#life(uid);
    if (type !== 'create' && (deletion !== undefined || phase === 'Failed')) life.isEnding = true;
    this.workers.updatePod({ updateType: type, pod });
  }

  #kill({ pod: number, grace, evict, now }: Operation & { op: 'kill' }): void {
    const uid = `u${number}`;
    const pod = this.#pods.get(uid);
    if (pod === undefined) return;
    const life = this.#life(uid);
    // where a pod ends because nobody desires it any more, the call under way may go on
    const isFirst = !life.isEnding;
    life.isEnding = true;
    const gracePeriod = grace === undefined ? {} : { gracePeriodSeconds: grace };
    if (now) {
      this.#kills += 1;
      this.workers.killPodNow(pod, { evict, ...gracePeriod }).then(
        () => this.#killed.push('killed'),
        (error) => this.#killed.push(error.code),
      );
    } else {
      const record = { uid, count: 0 };
      this.#completed.push(record);
      const completed = (): void => {
        record.count += 1;
        if (this.#isStopped) this.violations.push(`${uid}: completed was called after the stop`);
        const { name } = this.#open.get(uid) ?? {};
        if (name === 'sync' || name === 'terminating') this.violations.push(`${uid}: completed was called during ${name}`);
      };
      this.workers.updatePod({ updateType: 'kill', pod, killPodOptions: { evict, ...gracePeriod, completed } });
    }
    const open = this.#open.get(uid);
    const isLate =
      (open?.name === 'sync' && isFirst) ||
      (open?.name === 'terminating' && grace !== undefined && Math.max(1, grace) < (open.grace ?? 0));
    if (isLate && !open.signal.aborted) this.violations.push(`${uid}: ${open.name} was not asked to end`);
  }

  #known(desired: readonly string[]): void {
    const pods = desired.map((uid) => this.#pods.get(uid) ?? { metadata: { uid } });
    const known = this.workers.syncKnownPods(pods);
    for (const [uid, life] of this.#lives) {
      if (!known.has(uid)) {
        if (this.#open.has(uid)) this.violations.push(`${uid}: forgotten while a call was under way`);
        this.#lives.delete(uid);
      } else if (!desired.includes(uid)) life.isEnding = true;
    }
  }

  #retry(): void {
    for (const uid of this.queue.getWork()) {
      const pod = this.#pods.get(uid);
      if (pod !== undefined) this.workers.updatePod({ updateType: 'sync', pod });
      else this.workers.updatePod({ updateType: 'kill', runningPod: { uid, name: 'left', namespace: 'd' } });
    }
  }

  #life(uid: string): Life {
    const life = this.#lives.get(uid) ?? {
      isEnding: false,
      hasStopped: false,
      isTerminal: false,
      grace: undefined,
      isOfRuntime: false,
      isObserved: false,
    };
    this.#lives.set(uid, life);
    return life;
  }

  #checkAnswers(): void {
    for (const [uid, { isEnding, hasStopped, isOfRuntime }] of this.#lives) {
      if (isOfRuntime) continue;
      const { workers } = this;
      if (isEnding && !workers.isPodTerminationRequested(uid)) this.violations.push(`${uid}: its end was forgotten`);
      if (hasStopped && !workers.shouldPodContainersBeTerminating(uid)) this.violations.push(`${uid}: it could start again`);
      if (workers.shouldPodBeFinished(uid) && workers.couldHaveRunningContainers(uid))
        this.violations.push(`${uid}: over, and runs`);
      if (this.#open.has(uid) && workers.shouldPodBeFinished(uid)) this.violations.push(`${uid}: over, and called`);
    }
  }

  #checkQuiet(uid: string, isDesired: boolean): void {
    const { workers } = this;
    const isWaiting = workers.couldHaveRunningContainers(uid) && !workers.isPodTerminationRequested(uid);
    if (!workers.shouldPodBeFinished(uid) && !isWaiting) this.violations.push(`${uid}: neither over nor waiting`);
    if (isWaiting && !isDesired) this.violations.push(`${uid}: goes on though it is not desired`);
  }

  #status(podUID: string): RuntimePodStatus {
    if (this.#cacheFails > 0) {
      this.#cacheFails -= 1;
      throw new Error('no status');
    }
    return { podUID, ips: [], containers: [], sandboxes: [] };
  }

  async #call(name: string, uid = '', grace: number | undefined, signal: AbortSignal): Promise<{ isTerminal: boolean }> {
    this.#checkCall(name, uid, grace, signal);
    this.#open.set(uid, { name, grace, signal });
    const { waitMs, heeds, end } = this.#plans.shift() ?? { waitMs: 0, heeds: true, end: 'ok' };
    if (waitMs > 0) await sleep(this.clock, waitMs, heeds ? signal : new AbortController().signal);
    this.#open.delete(uid);
    if (heeds) signal.throwIfAborted();
    if (end === 'failed') throw new Error('failed');
    if (end === 'terminal' && name === 'sync') this.#life(uid).isTerminal = true;
    return { isTerminal: end === 'terminal' };
  }

  /** Of static pods of one full name, one has started. */
  #checkStaticPods(uid: string): void {
    const { annotations, name } = this.#pods.get(uid)?.metadata ?? {};
    if (annotations?.['kubernetes.io/config.source'] !== 'file') return;
    for (const [other, { name: call }] of this.#open) {
      const isSame = other !== uid && this.#pods.get(other)?.metadata?.name === name;
      const isStopped = this.#life(uid).isObserved || this.#life(other).isObserved;
      if (isSame && !isStopped && call !== 'terminatingRuntime')
        this.violations.push(`${uid} and ${other}: two static pods of one full name at once`);
    }
  }

  #checkCall(name: string, uid: string, grace: number | undefined, signal: AbortSignal): void {
    const life = this.#life(uid);
    if (this.#open.has(uid)) this.violations.push(`${uid}: two calls at once`);
    if (this.#isStopped) this.violations.push(`${uid}: ${name} began after the stop`);
    if (signal.aborted) this.violations.push(`${uid}: ${name} began with an aborted signal`);
    if (life.isOfRuntime) return;
    this.#checkStaticPods(uid);
    if (name === 'sync') {
      if (life.isEnding || life.hasStopped || life.isTerminal) this.violations.push(`${uid}: synced though it ends`);
      return;
    }
    life.hasStopped = true;
    if (name !== 'terminating') return;
    if (life.grace !== undefined && !(grace !== undefined && grace <= life.grace)) {
      this.violations.push(`${uid}: its grace period grew from ${life.grace} to ${grace}`);
    }
    if (grace !== undefined && grace < 1) this.violations.push(`${uid}: a grace period of ${grace}`);
    life.grace = grace;
  }
}

/** The uids of half of the pods: static ones, and one of the apiserver. */
export const someDesired: readonly string[] = Array.from({ length: podCount / 2 }, (_, index) => `u${index}`);

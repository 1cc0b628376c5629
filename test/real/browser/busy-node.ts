import { createDebugHandler, type DebugHandler, type DebugNodeSource } from '../../../src/debug.ts';
import { BasicPodManager, type Pod, type PodClient, StatusManager, type WirePodStatus } from '../../../src/index.ts';
import {
  buildContainerStatus,
  buildPod,
  buildReadyCondition,
  buildRunningStatus,
  buildWaitingState,
  FakeClock,
  FakePodClient,
} from '../../../src/testing.ts';
import { Prng } from '../../random/chaos/prng.ts';
import { type LocalServer, serveLocally } from '../../support/serve-locally.ts';

const apps = ['web', 'checkout', 'search', 'mailer', 'ingest', 'billing', 'cache', 'thumbnails'] as const;
const namespaces = ['shop', 'shop', 'monitoring', 'default'] as const;
const podCount = 184;
const seconds = 300;

/** A node in the middle of its work, for pictures: five minutes of a real manager's life in a few seconds. */
export class BusyNode implements AsyncDisposable {
  readonly #random = new Prng(14);
  readonly #clock = new FakeClock({ start: Date.now() - seconds * 1000 });
  readonly #client = new FakePodClient();
  readonly #pods: readonly Pod[];
  readonly #restarts = new Map<Pod, number>();
  /** The patches that fail next, by the pod's name; of all pods under the empty name. */
  readonly #failures = new Map<string, { status: number; message: string; left: number }>();
  readonly #manager: StatusManager;
  readonly #handler: DebugHandler;
  #server: LocalServer | undefined;

  private constructor() {
    const podManager = new BasicPodManager();
    this.#pods = Array.from({ length: podCount }, (_, index) => this.#client.store.put(this.#podOf(index)) as Pod);
    podManager.setPods(this.#pods);
    this.#manager = new StatusManager({
      podClient: this.#slowly(this.#client),
      podManager,
      podDeletionSafety: { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false },
      clock: this.#clock,
      random: () => this.#random.next(),
      logger: null,
    });
    this.#handler = createDebugHandler({ manager: this.#manager, node: this.#node(), clock: this.#clock });
  }

  get url(): string {
    return this.#server?.url ?? '';
  }

  /** A node that has worked for five minutes, and now stands still. */
  static async start(): Promise<BusyNode> {
    const node = new BusyNode();
    node.#server = await serveLocally(node.#handler);
    await node.#live();
    return node;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#handler.close();
    await this.#server?.[Symbol.asyncDispose]();
    const stopped = this.#manager.stop({ drainTimeoutMs: 0 });
    // requests that are under way end by the clock that stands still
    await this.#clock.advance(60_000);
    await stopped;
  }

  /** Answers as a provider node does: its Lease is late, and one pod cannot be created. */
  #node(): DebugNodeSource {
    const pod = { podUID: '0c6f3a52-77aa-4c1e-9d0b-5a1f0e2b4c11', podNamespace: 'shop', podName: 'renderer-7d9f4-x2k8p' };
    const failing = {
      kind: 'create-pod',
      message: 'createPod() failed: quota exceeded for GPUs in zone b: 4 of 4 are in use',
      attempt: 4,
      help: 'Raise the quota, or delete a pod that holds a GPU.',
      ...pod,
    };
    const snapshot = () => {
      const now = this.#clock.now();
      const lease = {
        kind: 'lease',
        message: 'the Lease of the node could not be renewed: 503 etcdserver: leader changed',
        attempt: 2,
      };
      const problems = [
        { ...lease, since: now - 9_000, retryAt: now + 1_000 },
        { ...failing, since: now - 47_000, retryAt: now + 6_000 },
      ];
      const podsWithoutStatus = [{ ...pod, since: now - 47_000 }];
      const head = { nodeName: 'node-1', state: 'running', ready: true, registered: true, notes: [] };
      const last = {
        node: { lastReportAt: now - 21_000 },
        lease: { lastRenewAt: now - 19_000, lastError: { message: lease.message, attempt: 2, retryAt: now + 1_000 } },
        sources: [{ name: 'api', hasSent: true, lastSentAt: now - 2_400 }],
        loop: { state: 'running', sourcesReady: true, lastIterationAt: now - 800 },
        workers: { pods: podCount, working: 2, failing: 1 },
      };
      return { ...head, ...last, problems, problemCount: 2, podsWithoutStatus };
    };
    const explain = (podUID: string) => {
      if (podUID !== pod.podUID) return {};
      const now = this.#clock.now();
      const failure = { method: 'createPod', attempt: 4, retryAt: now + 6_000 };
      const problem = { ...failing, since: now - 47_000, retryAt: now + 6_000 };
      return { name: pod.podName, namespace: pod.podNamespace, source: 'api', isHeld: false, failure, problem };
    };
    return { snapshot, explain };
  }

  async #live(): Promise<void> {
    this.#manager.start();
    for (let second = 0; second < seconds; second += 1) {
      for (const pod of this.#pods.slice(second * 8, second * 8 + 8)) this.#set(pod, { phase: 'Pending' });
      for (const pod of this.#pods.slice((second - 3) * 8, (second - 2) * 8)) this.#set(pod, this.#running(pod));
      if (second > 40) for (let change = 0; change < 8 + 6 * Math.sin(second / 14); change += 1) this.#changeOne();
      if (second === 180) this.#failures.set('', { status: 503, message: 'etcdserver: leader changed', left: 60 });
      await this.#clock.advance(1000);
    }
    this.#failures.set(this.#pods[17]?.metadata?.name ?? '', {
      status: 422,
      message: 'admission webhook "quota" denied it',
      left: 9,
    });
    this.#failures.set(this.#pods[40]?.metadata?.name ?? '', { status: 503, message: 'etcdserver: request timed out', left: 9 });
    for (const index of [17, 40, 23]) this.#crash(this.#pods[index], index === 23);
    await this.#clock.advance(2500);
    for (const index of [5, 60, 61]) this.#crash(this.#pods[index], index === 5);
    await this.#clock.advance(3);
  }

  #podOf(index: number): ReturnType<typeof buildPod> {
    const app = apps[index % apps.length] ?? 'web';
    const suffix = (this.#random.int(0, 2 ** 31) + 36 ** 5).toString(36).slice(-5);
    const metadata = {
      name: `${app}-${(index % 3) + 5}f9c${index % 7}-${suffix}`,
      uid: this.#uid(),
      resourceVersion: String(1000 + index),
    };
    return buildPod({ metadata: { ...metadata, namespace: namespaces[index % namespaces.length] ?? 'shop' } });
  }

  #uid(): string {
    const hex = (digits: number): string => Array.from({ length: digits }, () => this.#random.int(0, 15).toString(16)).join('');
    return [8, 4, 4, 4, 12].map(hex).join('-');
  }

  #set(pod: Pod | undefined, status: WirePodStatus): void {
    if (pod !== undefined) this.#manager.setPodStatus(pod, status);
  }

  #changeOne(): void {
    const pod = this.#pods[this.#random.int(0, podCount - 1)];
    if (this.#random.chance(0.12)) this.#crash(pod, false);
    else if (pod !== undefined)
      this.#manager.setContainerReadiness(pod.metadata?.uid ?? '', 'containerd://app', this.#random.chance(0.7));
  }

  /** `waits`: its container does not start again at once. */
  #crash(pod: Pod | undefined, waits: boolean): void {
    if (pod === undefined) return;
    this.#restarts.set(pod, (this.#restarts.get(pod) ?? 0) + 1);
    this.#set(pod, this.#running(pod, waits ? buildWaitingState('CrashLoopBackOff') : undefined));
  }

  #running(pod: Pod, waiting?: ReturnType<typeof buildWaitingState>): WirePodStatus {
    const restartCount = this.#restarts.get(pod) ?? 0;
    const state = waiting ?? { running: { startedAt: `${new Date(this.#clock.now()).toISOString().slice(0, 19)}Z` } };
    const ready = waiting === undefined;
    return {
      ...buildRunningStatus(buildPod()),
      conditions: [buildReadyCondition(ready ? 'True' : 'False')],
      containerStatuses: [buildContainerStatus({ state, ready, started: ready, restartCount })],
    };
  }

  /** Answers after some milliseconds of the clock that stands still, now and then much later. */
  #slowly(client: PodClient): PodClient {
    const later = <T>(request: () => Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        const delayMs = this.#random.between(2, 9) + (this.#random.chance(0.03) ? this.#random.between(20, 90) : 0);
        this.#clock.setTimer(() => request().then(resolve, reject), delayMs);
      });
    return {
      getPod: (...args) => later(() => client.getPod(...args)),
      patchPodStatus: (...args) => later(async () => this.#failure(args[1]) ?? client.patchPodStatus(...args)),
      deletePod: (...args) => later(() => client.deletePod(...args)),
    };
  }

  #failure(name: string): undefined {
    const failure = this.#failures.get(name) ?? this.#failures.get('');
    if (failure === undefined || failure.left === 0) return;
    failure.left -= 1;
    const { status, message } = failure;
    throw Object.assign(new Error(message), { status });
  }
}

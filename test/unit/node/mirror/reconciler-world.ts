import type { Pod, WirePod } from '../../../../src/api/json/types.ts';
import { isMirrorPodOf, podFullName } from '../../../../src/api/pod/pod-identity.ts';
import type {
  CreateMirrorPodResult,
  DeleteMirrorPodResult,
  MirrorCallOptions,
} from '../../../../src/node/mirror/mirror-pod-client.ts';
import { MirrorPodReconciler } from '../../../../src/node/mirror/mirror-pod-reconciler.ts';
import type { MirrorPodFailure, MirrorPodReconcilerOptions } from '../../../../src/node/mirror/reconciler-options.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import { buildMirrorPodOf, buildPod, buildStaticPod } from '../../../../src/testing/fakes/builders.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { refusal } from './recording-transport.ts';

const nodeName = 'node-1';

/** What the next call of a verb does instead of what a server does. It may call `act` to have the effect on the server all the same. */
export type Interference = (act: () => unknown) => unknown;

export function rejecting(error: unknown): Interference {
  return () => Promise.reject(error);
}

export const mistake = (): never => {
  throw new Error('mistake');
};

export const never: Interference = () => new Promise(() => {});

/**
 * A server of mirror pods as a client, a pod manager that is told of its changes when the test says so, and a reconciler over
 * both, in virtual time.
 */
export class ReconcilerWorld {
  readonly clock = new FakeClock();
  readonly podManager = new BasicPodManager();
  readonly pods = new Map<string, WirePod>();
  /** `VERB FULL_NAME`, with the uid of a DELETE and the hash of a create. */
  readonly calls: string[] = [];
  readonly failures: MirrorPodFailure[] = [];
  readonly told: string[] = [];
  readonly #interferences = { create: [] as Interference[], delete: [] as Interference[], read: [] as Interference[] };
  /** While false, the pod manager hears of nothing. */
  watches = true;
  listedAt: number | undefined = 1;
  inFlight = 0;
  mostInFlight = 0;
  #missed: (() => void)[] = [];
  #versions = 0;
  readonly reconciler: MirrorPodReconciler;

  constructor(options: Partial<MirrorPodReconcilerOptions> = {}) {
    this.reconciler = new MirrorPodReconciler({
      logger: null,
      podManager: this.podManager,
      mirrorPodClient: {
        createMirrorPod: (pod, call) => this.#call('create', podFullName(pod), hashOf(pod), () => this.#create(pod), call),
        deleteMirrorPod: (name, uid, call) => this.#call('delete', name, uid ?? 'any uid', () => this.#delete(name, uid), call),
        getMirrorPod: (name, call) => this.#call('read', name, '', () => structuredClone(this.pods.get(name)), call),
      },
      nodeName,
      podSource: { lastListedAt: () => this.listedAt },
      handlers: {
        mirrorPodCreated: ({ podFullName: name }) => this.told.push(`created ${name}`),
        mirrorPodDeleted: ({ podFullName: name, reason }) => this.told.push(`deleted ${name}: ${reason}`),
        failed: (failure) => this.failures.push(failure),
      },
      random: () => 0.5,
      clock: this.clock,
      ...options,
    });
  }

  /** A static pod in the pod manager. Another hash is another version of its manifest. */
  addStatic(name = 'web', hash = 'hash-1'): WirePod {
    const annotations = { 'kubernetes.io/config.hash': hash };
    const pod = buildStaticPod({ metadata: { name, uid: `static-${name}-${hash}`, annotations } });
    for (const held of this.podManager.getPods()) if (podFullName(held) === podFullName(pod)) this.podManager.removePod(held);
    this.podManager.addPod(pod);
    return pod;
  }

  /** Somebody creates the mirror pod of a static pod, or any other pod. */
  put(pod: WirePod): WirePod {
    const stored = this.#stored(pod);
    this.#store(stored);
    return stored;
  }

  putMirrorOf(pod: WirePod, overrides: Parameters<typeof buildMirrorPodOf>[1] = {}): WirePod {
    const uid = `foreign-${this.#versions + 1}`;
    return this.put(buildMirrorPodOf(pod, { ...overrides, metadata: { uid, ...overrides.metadata } }));
  }

  putOrdinary(name: string, spec = {}): WirePod {
    return this.put(buildPod({ metadata: { name, uid: `ordinary-${name}` }, spec }));
  }

  /** Somebody deletes the pod of this name. */
  remove(fullName: string): void {
    const pod = this.pods.get(fullName);
    this.pods.delete(fullName);
    if (pod !== undefined) this.#hear(() => this.podManager.removePod(pod));
  }

  /** The pod manager hears of everything that it has missed, in order. */
  catchUp(): void {
    this.watches = true;
    for (const hear of this.#missed.splice(0)) hear();
  }

  /** The pod manager hears of the first thing that it has missed. */
  hearNext(): void {
    this.#missed.shift()?.();
  }

  next(verb: 'create' | 'delete' | 'read', interference: Interference): void {
    this.#interferences[verb].push(interference);
  }

  /** Starts the reconciler, and lets it do what it does at once. */
  async start(): Promise<void> {
    this.reconciler.start();
    await settle();
  }

  takeCalls(): string[] {
    return this.calls.splice(0);
  }

  /** The uid of the mirror pod on the server; undefined where there is none. */
  uid(fullName = 'web_default'): string | undefined {
    return this.pods.get(fullName)?.metadata?.uid;
  }

  isInStep(pod: WirePod): boolean {
    const mirror = this.pods.get(podFullName(pod));
    return mirror !== undefined && !mirror.metadata?.deletionTimestamp && isMirrorPodOf(mirror, pod);
  }

  async #call<T>(
    verb: 'create' | 'delete' | 'read',
    name: string,
    detail: string,
    act: () => T,
    { signal }: MirrorCallOptions = {},
  ): Promise<T> {
    this.calls.push(`${verb} ${name} ${detail}`.trim());
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    const aborted = Promise.withResolvers<never>();
    aborted.promise.catch(() => {});
    signal?.addEventListener('abort', () => aborted.reject(new Error('aborted')));
    try {
      await settle(1);
      const interference = this.#interferences[verb].shift();
      const answer = Promise.resolve(interference === undefined ? act() : interference(act)) as Promise<T>;
      return await Promise.race([answer, aborted.promise]);
    } finally {
      this.inFlight -= 1;
    }
  }

  #create(pod: Pod): CreateMirrorPodResult {
    const taken = this.pods.get(podFullName(pod));
    const error = refusal(409, 'AlreadyExists');
    if (taken !== undefined) return { outcome: 'alreadyExists', error };
    const mirrorPod = this.#stored(buildMirrorPodOf(pod as WirePod, { metadata: { uid: `mirror-${this.#versions + 1}` } }));
    this.#store(mirrorPod);
    return { outcome: 'created', mirrorPod: structuredClone(mirrorPod) };
  }

  #delete(fullName: string, uid: string | undefined): DeleteMirrorPodResult {
    const pod = this.pods.get(fullName);
    if (pod === undefined) return { deleted: false, reason: 'notFound', error: refusal(404, 'NotFound') };
    if (uid !== undefined && uid !== pod.metadata?.uid) {
      return { deleted: false, reason: 'conflict', error: refusal(409, 'Conflict') };
    }
    if (pod.metadata?.finalizers?.length) {
      const metadata = { ...pod.metadata, deletionTimestamp: '2000-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };
      this.#store(this.#stored({ ...pod, metadata }));
      return { deleted: true, heldByFinalizers: true };
    }
    this.remove(fullName);
    return { deleted: true, heldByFinalizers: false };
  }

  #stored(pod: WirePod): WirePod {
    return { ...pod, metadata: { ...pod.metadata, resourceVersion: `${++this.#versions}` } };
  }

  #store(pod: WirePod): void {
    this.pods.set(podFullName(pod), pod);
    if (pod.spec?.nodeName === nodeName) this.#hear(() => this.podManager.updatePod(pod));
  }

  #hear(hear: () => void): void {
    if (this.watches) hear();
    else this.#missed.push(hear);
  }
}

function hashOf(pod: Pod): string {
  return pod.metadata?.annotations?.['kubernetes.io/config.hash'] ?? '';
}

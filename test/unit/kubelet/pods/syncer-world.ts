import type { Pod, PodStatus, WirePod, WirePodStatus } from '../../../../src/api/json/types.ts';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import {
  containerAnnotations,
  containerHash,
  containerLabels,
  sandboxLabels,
} from '../../../../src/kubelet/containers/runtime-names.ts';
import { ImagePuller } from '../../../../src/kubelet/images/image-puller.ts';
import type { PodLifecycle } from '../../../../src/kubelet/pleg/pod-lifecycle.ts';
import { AgentPodSyncer } from '../../../../src/kubelet/pods/agent-pod-syncer.ts';
import type { AgentPodSyncerOptions } from '../../../../src/kubelet/pods/agent-pod-syncer-options.ts';
import type { ProbeResult, ProbeType } from '../../../../src/node/probes/probe-types.ts';
import { RestartBackoff } from '../../../../src/node/workers/restart-backoff.ts';
import { buildPod, type PodOverrides } from '../../../../src/testing/fakes/builders.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { FakeRuntime } from '../../../../src/testing/runtime/fake-runtime.ts';
import type { FakeRuntimeOptions } from '../../../../src/testing/runtime/fake-runtime-options.ts';

import { quietLifecycle } from '../../../support/quiet-lifecycle.ts';

type Container = NonNullable<WirePod['spec']>['containers'][number];

/** A container with defaults as the apiserver gives them. */
export function container(name: string, more: Partial<Container> = {}): Container {
  return { name, image: `${name}:1`, imagePullPolicy: 'IfNotPresent', ...more };
}

export function podOf(spec: PodOverrides['spec'], metadata: PodOverrides['metadata'] = {}): Pod {
  return buildPod({ metadata: { name: 'web', uid: 'web', ...metadata }, spec: { terminationGracePeriodSeconds: 30, ...spec } });
}

export interface WorldOptions extends FakeRuntimeOptions {
  readonly syncer?: Partial<AgentPodSyncerOptions>;
}

/** An AgentPodSyncer over a runtime in memory, with everything else as small as can be. */
export class SyncerWorld {
  readonly clock = new FakeClock();
  readonly runtime: FakeRuntime;
  readonly lifecycle: PodLifecycle;
  readonly syncer: AgentPodSyncer;
  /** Events as `Warning Failed spec.containers{app}: Error: …`. */
  readonly events: string[] = [];
  /** The statuses that were told, in order. */
  readonly told: WirePodStatus[] = [];
  /** Calls of the parts that are not the runtime's, in order. */
  readonly calls: string[] = [];
  readonly probeResults = new Map<string, ProbeResult>();
  readonly #statuses = new Map<string, PodStatus>();
  readonly #stop = new AbortController();

  constructor({ syncer = {}, ...runtime }: WorldOptions = {}) {
    const { clock } = this;
    this.runtime = new FakeRuntime({ ...runtime, clock });
    const quiet = { clock, logger: silentLogger };
    this.lifecycle = quietLifecycle(this.runtime, clock);
    const eventRecorder = {
      event: (_: Pod, type: string, reason: string, message: string, fieldPath = '') =>
        void this.events.push(`${type} ${reason} ${fieldPath}: ${message}`),
    };
    this.syncer = new AgentPodSyncer({
      runtime: this.runtime,
      lifecycle: this.lifecycle,
      statusManager: {
        getPodStatus: (podUID) => this.#statuses.get(podUID),
        setPodStatus: (pod, status) => {
          const startTime = this.#statuses.get(pod.metadata?.uid ?? '')?.startTime ?? new Date(this.clock.now());
          this.#statuses.set(pod.metadata?.uid ?? '', { ...status, startTime: new Date(startTime) });
          this.told.push(status as WirePodStatus);
          return true;
        },
        terminatePod: () => this.#note('terminatePod', true),
      },
      probes: {
        addPod: () => this.#note('addPod', undefined),
        stopLivenessAndStartup: () => this.#note('stopLivenessAndStartup', undefined),
        removePod: () => this.#note('removePod', undefined),
        result: (type: ProbeType, containerID) => this.probeResults.get(`${type} ${containerID}`),
        containerState: () => ({ started: true, ready: true }),
      },
      images: new ImagePuller({
        runtime: this.runtime,
        recordsDirectory: undefined,
        maxParallelImagePulls: 5,
        credentialVerification: 'NeverVerifyPreloadedImages',
        eventRecorder,
        ...quiet,
      }),
      volumes: {
        mountVolumes: async () => this.#note('mountVolumes', new Map()),
        unmountVolumes: async () => this.#note('unmountVolumes', undefined),
      },
      cgroups: {
        updateClasses: async () => this.#note('updateClasses', undefined),
        ensurePod: async () => this.#note('ensurePod', undefined),
        removePod: async () => this.#note('removePodCgroup', undefined),
      },
      claims: undefined,
      configs: testConfigs,
      lastLogNumber: async () => -1,
      requestSync: (podUID) => this.#note(`wake ${podUID}`, undefined),
      restartBackoff: new RestartBackoff({ eventRecorder, clock }),
      pullSecretsOf: async () => [],
      runtimeHandlerOf: async () => '',
      networkReady: () => ({ ready: true }),
      hostIPs: () => ['192.0.2.1'],
      nodeIPs: () => ['192.0.2.1'],
      resizeConditions: () => undefined,
      resizer: undefined,
      onPodStarting: () => {},
      onPodEnded: async () => {},
      eventRecorder,
      ...quiet,
      ...syncer,
    });
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get status(): WirePodStatus {
    return this.told.at(-1) ?? {};
  }

  /** What happened to containers, such as `started app#0`. */
  happened(): string[] {
    return this.runtime.history
      .filter(({ what, type }) => what === 'container' && type !== 'created')
      .map(({ type, name, attempt }) => `${type} ${name}#${attempt}`);
  }

  /** One sync, as the workers make it. Time goes on until it has ended. */
  async sync(pod: Pod, signal = this.signal) {
    const runtimeStatus = await this.lifecycle.refresh(pod.metadata?.uid ?? '', signal);
    return this.through(this.syncer.syncPod({ updateType: 'sync', pod, mirrorPod: undefined, runtimeStatus }, signal));
  }

  async end(pod: Pod, gracePeriodSeconds = 30, signal = this.signal) {
    const runtimeStatus = await this.lifecycle.refresh(pod.metadata?.uid ?? '', signal);
    const request = { pod, runtimeStatus, gracePeriodSeconds, podStatusFn: undefined };
    return this.through(this.syncer.syncTerminatingPod(request, signal));
  }

  async finish(pod: Pod) {
    const runtimeStatus = await this.lifecycle.refresh(pod.metadata?.uid ?? '', this.signal);
    await this.syncer.syncTerminatedPod({ pod, runtimeStatus, podStatusFn: undefined });
  }

  /** Lets time go on until the call has settled, at most so long. */
  async through<T>(call: Promise<T>, mostMs = 600_000): Promise<T> {
    let isOver = false;
    const over = call.then(
      () => {
        isOver = true;
      },
      () => {
        isOver = true;
      },
    );
    const until = this.clock.now() + mostMs;
    await settle(20);
    while (!isOver && this.clock.now() < until) {
      await this.clock.advance(100);
      await settle(20);
    }
    if (!isOver) throw new Error('the call has not ended');
    await over;
    return call;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.syncer.stop();
    await this.lifecycle.stop();
    await this.runtime.close();
  }

  #note<T>(call: string, answer: T): T {
    this.calls.push(call);
    return answer;
  }
}

const noNamespaces = { network: 'pod', pid: 'container', ipc: 'pod' } as const;

export const testConfigs: AgentPodSyncerOptions['configs'] = {
  containerHash: (one) => containerHash(one),
  sandboxConfig: async ({ pod, attempt }) => ({
    metadata: {
      name: pod.metadata?.name ?? '',
      namespace: pod.metadata?.namespace ?? '',
      uid: pod.metadata?.uid ?? '',
      attempt,
    },
    hostname: '',
    logDirectory: `/no-such-folder/${pod.metadata?.uid}`,
    portMappings: [],
    labels: sandboxLabels(pod),
    annotations: {},
    linux: {
      cgroupParent: '',
      securityContext: { namespaces: noNamespaces, supplementalGroups: [], privileged: false },
      sysctls: {},
    },
  }),
  containerConfig: async ({ pod, container: one, attempt, imageRef, targetContainerID }) => ({
    metadata: { name: one.name, attempt },
    image: { image: imageRef },
    command: one.command ?? [],
    args: [],
    workingDir: '',
    envs: [],
    mounts: [],
    devices: [],
    labels: containerLabels(pod, one as Container),
    annotations: containerAnnotations(pod, one as Container, attempt),
    logPath: `${one.name}/${attempt}.log`,
    stdin: false,
    stdinOnce: false,
    tty: false,
    resources: {},
    securityContext: {
      privileged: false,
      namespaces: targetContainerID ? { ...noNamespaces, pid: 'target', targetID: targetContainerID } : noNamespaces,
      readonlyRootfs: false,
      supplementalGroups: [],
      noNewPrivs: false,
      maskedPaths: [],
      readonlyPaths: [],
    },
  }),
};

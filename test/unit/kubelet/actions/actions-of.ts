import type { Pod } from '../../../../src/api/json/types.ts';
import { computePodActions } from '../../../../src/kubelet/actions/compute-pod-actions.ts';
import { containerHash } from '../../../../src/kubelet/containers/runtime-names.ts';
import type { AgentPodStatus } from '../../../../src/kubelet/pleg/agent-status.ts';
import type { ContainerDetails, ContainerState } from '../../../../src/kubelet/runtime/runtime-containers.ts';
import { type PodSandboxDetails, runtimeAnnotations } from '../../../../src/kubelet/runtime/runtime-sandboxes.ts';
import type { ProbeResult } from '../../../../src/node/probes/probe-types.ts';

/** One container of the runtime: `running`, `exited 1`, `created`, `unknown`, `exited 0 OOMKilled`. */
export type Written = string;

export interface Situation {
  readonly pod: Pod;
  /** The newest first: by name, and by what {@link Written} says. */
  readonly containers?: readonly (readonly [string, Written])[];
  /** The newest first: `ready`, `notready`; with `host` in the node's network, with `noip` without an address. */
  readonly sandboxes?: readonly string[];
  /** By `liveness app`. */
  readonly probes?: Readonly<Record<string, ProbeResult>>;
  readonly restartsAll?: boolean;
  /** What containers were made from, where that is not their spec. */
  readonly hashes?: Readonly<Record<string, string>>;
  readonly resizeRestarts?: readonly string[];
}

/** The actions, in short: names, in order. */
export function actionsOf(situation: Situation) {
  const { pod, probes = {}, restartsAll = false, resizeRestarts } = situation;
  const actions = computePodActions({
    pod,
    status: statusOf(situation),
    restartsAll,
    probeResult: (type, containerID) => probes[`${type} ${containerID.replace(/^fake:\/\/(.*)-\d+$/, '$1')}`],
    containerHash,
    ...(resizeRestarts && { resizeRestarts: (container) => resizeRestarts.includes(container.name) }),
  });
  const { killPod, createSandbox, attempt, sandboxID } = actions;
  return {
    killPod,
    createSandbox,
    attempt,
    sandboxID,
    init: actions.initContainersToStart.map(({ name }) => name),
    start: actions.containersToStart.map(({ name }) => name),
    ephemeral: actions.ephemeralContainersToStart.map(({ name }) => name),
    kill: actions.containersToKill.map(({ entry, reason, message }) => `${entry.details.id} ${reason}: ${message}`),
    reset: actions.containersToReset.map(({ entry, kill }) => `${kill ? 'kill ' : ''}${entry.details.id}`),
  };
}

/** What the runtime has of the pod. */
export function statusOf({ pod, containers = [], sandboxes = ['ready'], hashes = {} }: Situation): AgentPodStatus {
  const all = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  const specs = new Map(all.toReversed().map((spec) => [spec.name, spec]));
  const containerDetails = containers.map(([name, written], index): ContainerDetails => {
    const [state = '', exitCode = '0', reason = ''] = written.split(' ');
    const spec = specs.get(name);
    return {
      id: `${name}-${index}`,
      sandboxID: 's0',
      metadata: { name, attempt: 0 },
      image: '',
      imageRef: '',
      state: state as ContainerState,
      createdAt: 1000 - index,
      labels: {},
      annotations: { [runtimeAnnotations.containerHash]: hashes[name] ?? (spec ? containerHash(spec) : '') },
      startedAt: 0,
      finishedAt: 0,
      exitCode: Number(exitCode),
      reason,
      message: '',
      imageID: '',
      logPath: '',
      mounts: [],
    };
  });
  const sandboxDetails = sandboxes.map(
    (_, index): PodSandboxDetails => ({
      id: `s${index}`,
      metadata: { name: '', uid: '', namespace: '', attempt: sandboxes.length - 1 - index },
      state: 'ready',
      createdAt: 0,
      labels: {},
      annotations: {},
      runtimeHandler: '',
      ips: [],
    }),
  );
  return {
    podUID: 'web',
    ips: [],
    containers: containerDetails.map(({ id, metadata, state, exitCode, reason }) => ({
      id: `fake://${id}`,
      name: metadata.name,
      state,
      reason,
      ...(state === 'exited' && { exitCode }),
    })),
    containerDetails,
    sandboxes: sandboxes.map((written) => ({
      ready: written.startsWith('ready'),
      hostNetwork: written.includes('host'),
      network: { ip: written.includes('noip') || written.includes('host') ? '' : '10.0.0.1' },
    })),
    sandboxDetails,
  };
}

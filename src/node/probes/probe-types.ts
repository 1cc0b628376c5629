import type { Container } from '../../api/pod/pod-containers.ts';

/** The three probes that a container of a spec may have. */
export type ProbeType = 'liveness' | 'readiness' | 'startup';

/** What a probe has last said of a container. `Unknown`: a startup probe that has not come to a result yet. */
export type ProbeResult = 'Success' | 'Failure' | 'Unknown';

/** A probe as it stands in a pod's spec. */
export type ContainerProbe = NonNullable<Container['livenessProbe']>;

/** A change of what is known of one container. */
export interface ProbeResultUpdate {
  /** Which probe has the result. */
  readonly type: ProbeType;
  /** The pod's `metadata.uid`. */
  readonly podUID: string;
  /** With the runtime's name before it: `containerd://1234`. */
  readonly containerID: string;
  /** What is known now. */
  readonly result: ProbeResult;
  /** True where the kubelet syncs the pod: a liveness probe has failed, or another probe has any new result. */
  readonly needsSync: boolean;
}

/** A probe that has failed at least as often in a row as its threshold says. */
export interface ProbeFailure {
  /** Which probe of the container. */
  readonly type: ProbeType;
  /** The container's name in the pod's spec. */
  readonly containerName: string;
  /** What the last probe said. */
  readonly message: string;
  /** When the first failure in a row came, in milliseconds since the epoch. */
  readonly since: number;
  /** Failures in a row. */
  readonly attempt: number;
  /** When the container is probed again, in milliseconds since the epoch. */
  readonly retryAt: number;
}

/** The word of a type in events. */
export const probeTitles: Readonly<Record<ProbeType, string>> = {
  liveness: 'Liveness',
  readiness: 'Readiness',
  startup: 'Startup',
};

/** What would help, where a probe fails. */
export const probeHelp: Readonly<Record<ProbeType, string>> = {
  startup: 'See why the container does not start, or give it more time (failureThreshold): it is ended and started again.',
  readiness: 'See why the container is not ready: its pod gets no traffic until the probe succeeds.',
  liveness:
    'See why the container does not answer, or give it more time (timeoutSeconds, failureThreshold): it is started again.',
};

/** The types in the order in which a container's workers start. */
export const probeTypes: readonly ProbeType[] = ['startup', 'readiness', 'liveness'];

/** The container's probe of this type; undefined where it has none. */
export function probeOf(container: Container, type: ProbeType): ContainerProbe | undefined {
  if (type === 'liveness') return container.livenessProbe;
  return type === 'readiness' ? container.readinessProbe : container.startupProbe;
}

/** The numbers of a probe. Where the spec says nothing, 0, or no number, it is the apiserver's default. */
export interface ProbeSettings {
  readonly initialDelaySeconds: number;
  readonly periodMs: number;
  readonly timeoutSeconds: number;
  readonly successThreshold: number;
  readonly failureThreshold: number;
}

/** The longest period and timeout. A longer timer of Node fires at once. */
const longestSeconds = 86_400;

export function probeSettings(probe: ContainerProbe): ProbeSettings {
  const { initialDelaySeconds, periodSeconds, timeoutSeconds, successThreshold, failureThreshold } = probe;
  return {
    initialDelaySeconds: positive(initialDelaySeconds, 0),
    periodMs: Math.min(positive(periodSeconds, 10), longestSeconds) * 1000,
    timeoutSeconds: Math.min(positive(timeoutSeconds, 1), longestSeconds),
    successThreshold: positive(successThreshold, 1),
    failureThreshold: positive(failureThreshold, 3),
  };
}

function positive(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : otherwise;
}

/** What the probes have last said of each container. Behaviour of pkg/kubelet/prober/results, v1.36.3. */
export class ProbeResults {
  readonly #results: Readonly<Record<ProbeType, Map<string, ProbeResult>>> = {
    liveness: new Map(),
    readiness: new Map(),
    startup: new Map(),
  };

  get(type: ProbeType, containerID: string | undefined): ProbeResult | undefined {
    return containerID === undefined ? undefined : this.#results[type].get(containerID);
  }

  /** True when that is another result than before. */
  set(type: ProbeType, containerID: string, result: ProbeResult): boolean {
    const results = this.#results[type];
    if (results.get(containerID) === result) return false;
    results.set(containerID, result);
    return true;
  }

  remove(type: ProbeType, containerID: string): void {
    this.#results[type].delete(containerID);
  }

  clear(): void {
    for (const results of Object.values(this.#results)) results.clear();
  }
}

import type { WirePod, WirePodStatus } from '../../../../src/index.ts';
import type { ProbeTarget } from '../../../../src/node/probes/network-prober.ts';
import { ProbeManager } from '../../../../src/node/probes/probe-manager.ts';
import type { ProbeManagerOptions } from '../../../../src/node/probes/probe-manager-options.ts';
import type { ContainerProbe, ProbeResultUpdate } from '../../../../src/node/probes/probe-types.ts';
import type { ProbeOutcome, Prober } from '../../../../src/node/probes/prober.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { type BareParts, barePod } from '../../../support/pods.ts';

const startedAt = Date.UTC(2000, 0, 1);

type Answer = (target: ProbeTarget['target'], signal: AbortSignal) => unknown;

export const success: ProbeOutcome = { result: 'success' };
export const failure: ProbeOutcome = { result: 'failure', output: 'bad' };

export function exec(probe: Partial<ContainerProbe> = {}): ContainerProbe {
  return { exec: { command: ['check'] }, periodSeconds: 10, timeoutSeconds: 1, failureThreshold: 1, ...probe };
}

export type ContainerSpec = Omit<
  NonNullable<WirePod['spec']>['containers'][number],
  'livenessProbe' | 'readinessProbe' | 'startupProbe'
> & { livenessProbe?: ContainerProbe; readinessProbe?: ContainerProbe; startupProbe?: ContainerProbe };

export function podOf(container: Partial<ContainerSpec>, spec: BareParts['spec'] = {}, uid = 'u1'): WirePod {
  const containers = [{ name: 'a', ...container } as ContainerSpec];
  return barePod({
    metadata: { name: 'p', namespace: 'd', uid },
    spec: { containers, ...spec } as BareParts['spec'] & object,
  });
}

/** A pod whose container `a` runs since the agent's start. */
export function running(changes: object = {}, podChanges: object = {}): WirePodStatus {
  const state = { running: { startedAt: '2000-01-01T00:00:00Z' } };
  const container = {
    name: 'a',
    containerID: 'x://a0',
    image: '',
    imageID: '',
    ready: false,
    restartCount: 0,
    state,
    ...changes,
  };
  return { phase: 'Running', podIP: '10.0.0.1', containerStatuses: [container], ...podChanges } as WirePodStatus;
}

export const started = { started: true };

/** A probe manager in virtual time. Every probe is answered by `answer`. */
export class ProbeWorld {
  readonly clock = new FakeClock({ start: startedAt + 100_000 });
  readonly calls: { readonly at: number; readonly target: ProbeTarget['target'] & object; readonly signal: AbortSignal }[] = [];
  readonly updates: ProbeResultUpdate[] = [];
  readonly events: string[] = [];
  readonly logged: string[] = [];
  readonly told: unknown[][] = [];
  readonly manager: ProbeManager;
  answer: Answer = async () => success;
  status: WirePodStatus | undefined = running(started);
  /** Calls under way now, and the most there were of one container at once. */
  mostAtOnce = 0;
  readonly #underWay = new Map<string, number>();

  constructor(options: Partial<ProbeManagerOptions> = {}, prober: Partial<Prober> = {}) {
    const call = (target: ProbeTarget['target'], signal: AbortSignal): Promise<ProbeOutcome> => this.#call(target, signal);
    const log = (_fields: object, message: string): void => void this.logged.push(message);
    this.manager = new ProbeManager({
      prober: { exec: call, http: call, tcp: call, grpc: call, ...prober },
      statusManager: {
        getPodStatus: () => this.status,
        setContainerReadiness: (...args) => this.told.push(['ready', ...args]),
        setContainerStartup: (...args) => this.told.push(['started', ...args]),
      },
      handlers: { resultChanged: (update) => void this.updates.push(update) },
      eventRecorder: {
        event: (pod, type, reason, message, path) =>
          void this.events.push(`${pod.metadata?.name} ${path}: ${type} ${reason} ${message}`),
      },
      agentStartedAt: startedAt,
      clock: this.clock,
      logger: { debug: log, info: log, warn: log, error: log },
      ...options,
    });
  }

  /** The seconds at which probes were made. */
  get times(): number[] {
    return this.calls.map(({ at }) => at);
  }

  get results(): string[] {
    return this.updates.map(({ type, result }) => `${type} ${result}`);
  }

  async seconds(count: number): Promise<void> {
    await this.clock.advance(count * 1000);
  }

  async add(pod: WirePod): Promise<WirePod> {
    this.manager.addPod(pod);
    await settle();
    return pod;
  }

  #call(target: ProbeTarget['target'], signal: AbortSignal): Promise<ProbeOutcome> {
    const at = (this.clock.now() - startedAt) / 1000 - 100;
    this.calls.push({ at, target, signal });
    const { containerID } = target;
    const count = (this.#underWay.get(containerID) ?? 0) + 1;
    this.#underWay.set(containerID, count);
    this.mostAtOnce = Math.max(this.mostAtOnce, count);
    const over = (): void => void this.#underWay.set(containerID, (this.#underWay.get(containerID) ?? 1) - 1);
    let answer: unknown;
    try {
      answer = this.answer(target, signal);
    } catch (error) {
      over();
      throw error;
    }
    void Promise.resolve(answer).then(over, over);
    return answer as Promise<ProbeOutcome>;
  }
}

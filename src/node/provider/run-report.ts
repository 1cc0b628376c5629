import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WireContainerStatus } from '../../api/json/types.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { problemFields } from '../../base/problem.ts';
import { problemOfStatus } from '../../status/rules/status-problem.ts';
import type { GivenEnd } from '../pod-status/given-status.ts';
import { containerFieldPath, type RestartAnswer } from '../workers/restart-backoff.ts';
import type { ContainerSpec, NodePod, ProviderTools } from './pod-provider.ts';
import { shortErrorText } from './provider-calls.ts';

export interface RunReportOptions {
  readonly pod: NodePod;
  readonly spec: ContainerSpec;
  /** What the node has given to tell of pods: it may come after the first run. */
  readonly tools: () => ProviderTools;
  readonly clock: Pick<SteadyClock, 'now' | 'elapsed'>;
}

/** A container that need not wait between its runs writes no more than one line in this time, in milliseconds. */
const leastBetweenMs = 1000;

/** Tells of the runs of one container: events as a kubelet's, and a log line for a run that has ended and is followed by another. */
export class RunReport {
  readonly #options: RunReportOptions;
  /** What the last run has thrown; undefined where it threw nothing, or that was told. */
  #thrown: { readonly error: unknown } | undefined;
  #isUnderWay = false;
  #toldAt: number | undefined;
  #hasToldOfWait = false;

  constructor(options: RunReportOptions) {
    this.#options = options;
  }

  /** A run begins. What fails at once was never started. */
  async begins(): Promise<void> {
    this.#thrown = undefined;
    this.#isUnderWay = true;
    await nextTurn();
    this.#started();
  }

  /** The run has ended by itself. */
  ended(): void {
    this.#started();
  }

  /** The run has failed. `isAsked`: it was asked to end, so that nobody need know. */
  failed(error: unknown, isAsked: boolean): void {
    this.#isUnderWay = false;
    if (isAsked) return;
    this.#thrown = { error };
    this.#event('Warning', 'Failed', `Error: ${shortErrorText(error)}`);
  }

  /** The container waits for its next run, or begins it now. The first run that succeeded is not worth a line. */
  startsAgain(end: GivenEnd, restartCount: number, answer: RestartAnswer): void {
    const { pod, spec, tools, clock } = this.#options;
    const thrown = this.#thrown;
    this.#thrown = undefined;
    const elapsed = clock.elapsed();
    const isQuiet = this.#toldAt === undefined || elapsed - this.#toldAt >= leastBetweenMs;
    // that it has to wait is a problem, which the line before did not tell of
    const isNews = answer.wait && !this.#hasToldOfWait;
    if (!(isQuiet || isNews) || (end.exitCode === 0 && !answer.wait)) return;
    this.#toldAt = elapsed;
    this.#hasToldOfWait = answer.wait;
    const problem = answer.wait ? problemOfWait(spec.name, end, restartCount, answer) : undefined;
    const now = clock.now();
    const retryAt = now + (answer.wait ? answer.remainingMs : 0);
    const fields = {
      ...(thrown !== undefined && { err: thrown.error }),
      ...podFields(pod.metadata),
      containerName: spec.name,
      exitCode: end.exitCode,
      ...problemFields({ attempt: restartCount + 1, ...problem, retryAt }, now),
    };
    tools().logger.warn(fields, 'a container has ended and will be started again');
  }

  #started(): void {
    if (!this.#isUnderWay) return;
    this.#isUnderWay = false;
    this.#event('Normal', 'Started', 'Container started');
  }

  #event(type: 'Normal' | 'Warning', reason: string, message: string): void {
    const { pod, spec, tools } = this.#options;
    tools().eventRecorder.event(pod, type, reason, message, containerFieldPath(pod, spec.name));
  }
}

/** The same problem that the pod's status will be found to have. */
function problemOfWait(name: string, end: GivenEnd, restartCount: number, { reason, message }: RestartAnswer & { wait: true }) {
  const terminated = { exitCode: end.exitCode, ...(end.message !== undefined && { message: end.message }) };
  const waits = { state: { waiting: { reason, message } }, lastState: { terminated } };
  const status: WireContainerStatus = { name, restartCount, image: '', imageID: '', ready: false, ...waits };
  return problemOfStatus({ containerStatuses: [status] });
}

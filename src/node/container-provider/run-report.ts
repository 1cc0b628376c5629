import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WireContainerStatus } from '../../api/json/types.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { CancelTimer, SteadyClock } from '../../base/clock.ts';
import { endedFailures, type Failing } from '../../base/failure-run.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { RecoveryLines } from '../../base/logging/recovery-lines.ts';
import { longestTimerMs } from '../../base/options.ts';
import { problemFields } from '../../base/problem.ts';
import { problemOfStatus } from '../../status/rules/status-problem.ts';
import type { GivenEnd } from '../pod-status/given-status.ts';
import type { ContainerSpec, NodePod, ProviderTools } from '../provider/pod-provider.ts';
import { shortErrorText } from '../provider/provider-calls.ts';
import { containerFieldPath, type RestartAnswer, type RestartBackoff } from '../workers/restart-backoff.ts';

/** What tells of pods. */
export interface ReportTools extends Omit<ProviderTools, 'resolvePod'>, Partial<Pick<ProviderTools, 'resolvePod'>> {
  /** Says which container that is well again has a line of its own. Without it, each has. */
  readonly recoveries?: Pick<RecoveryLines, 'take'>;
}

export interface RunReportOptions {
  readonly pod: NodePod;
  readonly spec: ContainerSpec;
  /** What the node has given to tell of pods: it may come after the first run. */
  readonly tools: () => ReportTools;
  readonly clock: SteadyClock;
  readonly backoff: Pick<RestartBackoff, 'nextWaitMs'>;
  /** Aborts when the container is not to be started any more. */
  readonly ending: AbortSignal;
}

/** A container that need not wait between its runs writes no more than one line in this time, in milliseconds. */
const leastBetweenMs = 1000;
/** A container that has failed is well again once it has run for as long as it would have to wait next, and not less than this. */
const leastWellMs = 10_000;

/** Tells of the runs of one container: events as a kubelet's, a log line for a run that has ended and is followed by another, and one when that is over. */
export class RunReport {
  readonly #options: RunReportOptions;
  /** What the last run has thrown; undefined where it threw nothing, or that was told. */
  #thrown: { readonly error: unknown } | undefined;
  #isUnderWay = false;
  #toldAt: number | undefined;
  #hasToldOfWait = false;
  /** The failures that were told, and are not over. */
  #failing: Pick<Failing, 'attempt' | 'since'> | undefined;
  #cancelTimer: CancelTimer | undefined;

  constructor(options: RunReportOptions) {
    this.#options = options;
  }

  /** A run begins. What fails at once was never started. */
  async begins(): Promise<void> {
    this.#thrown = undefined;
    this.#isUnderWay = true;
    this.#watch();
    await nextTurn();
    this.#started();
  }

  /** The run has ended by itself. */
  ended(): void {
    this.#cancelTimer?.();
    this.#started();
  }

  /** The container is well: it has succeeded for good, or goes on running. */
  succeeded(): void {
    const { pod, spec, tools, clock, ending } = this.#options;
    const failing = this.#failing;
    if (failing === undefined || ending.aborted) return;
    this.#failing = undefined;
    const { logger, recoveries } = tools();
    if (recoveries?.take() === false) return;
    const fields = { ...podFields(pod.metadata), containerName: spec.name, ...endedFailures(failing, clock.now()) };
    logger.info(fields, 'a container that had failed is well again');
  }

  /** The run has failed. `isAsked`: it was asked to end, so that nobody need know. */
  failed(error: unknown, isAsked: boolean): void {
    this.#cancelTimer?.();
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
    if (end.exitCode === 0 && !answer.wait) return;
    const now = clock.now();
    const { attempt, since } = this.#failing ?? { attempt: 0, since: now };
    this.#failing = { attempt: attempt + 1, since };
    const elapsed = clock.elapsed();
    const isQuiet = this.#toldAt === undefined || elapsed - this.#toldAt >= leastBetweenMs;
    // that it has to wait is a problem, which the line before did not tell of
    const isNews = answer.wait && !this.#hasToldOfWait;
    if (!isQuiet && !isNews) return;
    this.#toldAt = elapsed;
    this.#hasToldOfWait = answer.wait;
    const problem = answer.wait ? problemOfWait(spec.name, end, restartCount, answer) : undefined;
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

  /** A run that lasts says that the failures before it are over. */
  #watch(): void {
    if (this.#failing === undefined) return;
    const { pod, spec, backoff, clock } = this.#options;
    const wellMs = Math.min(longestTimerMs, Math.max(leastWellMs, backoff.nextWaitMs(pod, spec)));
    this.#cancelTimer = callGuarded(() => clock.setTimer(() => this.succeeded(), wellMs), ignoreFailure);
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

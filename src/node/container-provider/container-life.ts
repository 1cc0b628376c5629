import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { containerShouldRestart, isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { type SteadyClock, sleep } from '../../base/clock.ts';
import { LinkedAbort } from '../../base/concurrency/aborts.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { isInt32 } from '../../base/options.ts';
import { runtimeReason } from '../pod-status/get-phase.ts';
import type { GivenContainer, GivenEnd } from '../pod-status/given-status.ts';
import type { ContainerSpec, NodePod } from '../provider/pod-provider.ts';
import { shortErrorText } from '../provider/provider-calls.ts';
import type { TerminalSize } from '../streams/container-streams.ts';
import type { RestartBackoff } from '../workers/restart-backoff.ts';
import { ContainerConnections } from './container-connections.ts';
import { ContainerValues } from './container-values.ts';
import type { PodLogs } from './kept-logs.ts';
import { type ReportTools, RunReport } from './run-report.ts';

/** One run of a container, for the function that runs it. */
export interface ContainerRun {
  /** The pod that the container is of. */
  readonly pod: NodePod;
  /** Aborts when the container should end by itself: its pod is deleted, or nothing is left that it is a sidecar of. */
  readonly stop: AbortSignal;
  /** Aborts when the grace period of that is over: whatever runs must be ended now. */
  readonly kill: AbortSignal;
  /**
   * Says whether the container is ready, as often as that changes. Until it is called, a container with a readiness or a startup
   * probe is not ready, and any other one is. Once the run has ended it does nothing.
   */
  readonly ready: (isReady: boolean) => void;
  /**
   * What the container writes: it is the container's log, and is shown to attached clients. As a target of `pipe` it may be ended,
   * and never fails; what comes once the run has ended goes nowhere. It asks the writer to wait only for attached clients, at most
   * 10 s for one that takes nothing: then that client is let go.
   */
  readonly stdout: Writable;
  /** The same for errors. */
  readonly stderr: Writable;
  /**
   * What attached clients type, where the container has `stdin: true`; otherwise it is at its end. It ends with the run, and with
   * `stdinOnce: true` when the first client that types has no more or is gone.
   */
  readonly stdin: Readable;
  /** The listener is called with each size of an attached client's terminal; at once with the last one, where there is one. */
  readonly onResize: (listener: (size: TerminalSize) => void) => void;
}

/** Runs a container once, and resolves, when nothing of it runs any more, to its exit code; undefined counts as 0. */
export type RunContainer = (container: ContainerSpec, run: ContainerRun) => Promise<number | undefined>;

export interface ContainerLifeOptions {
  readonly pod: NodePod;
  readonly spec: ContainerSpec;
  readonly isInit: boolean;
  readonly runContainer: RunContainer;
  readonly backoff: RestartBackoff;
  readonly clock: SteadyClock;
  readonly logs: PodLogs;
  /** What the node has given to tell of pods. */
  readonly tools: () => ReportTools;
  /** Called after each change of `state`. */
  readonly changed: () => void;
  /** Aborts when the container is not to be started any more, at the latest with `stop`. */
  readonly ending: AbortSignal;
  readonly stop: AbortSignal;
  readonly kill: AbortSignal;
}

/** As a kubelet reports a container that could not be started. */
const startError = { exitCode: 128, reason: 'StartError' };

/** One container of a pod: its runs one after the other, as the restart policies say, and how it is. */
export class RunningContainer {
  readonly isSidecar: boolean;
  /** Resolves once what comes after a sidecar may begin: it runs, or with a startup probe has been ready; or it will not run again. */
  readonly started: Promise<void>;
  /** What clients see of it. */
  readonly connections: ContainerConnections;
  readonly #noteStarted: () => void;
  readonly #options: ContainerLifeOptions;
  readonly #restartsBefore: number;
  readonly #report: RunReport;
  readonly #values: ContainerValues;
  #runs = 0;
  /** How the run before has ended. */
  #lastEnd: GivenEnd | undefined;
  #state: GivenContainer;

  constructor(options: ContainerLifeOptions) {
    const { pod, spec, isInit } = options;
    this.#options = options;
    this.#report = new RunReport(options);
    this.#values = new ContainerValues(options);
    this.connections = new ContainerConnections(options);
    this.isSidecar = isInit && isRestartableInitContainer(spec);
    this.#restartsBefore = restartsBefore(pod, spec.name);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.started = promise;
    this.#noteStarted = resolve;
    this.#state = this.#finalEnd() ?? { name: spec.name, state: 'waiting' };
  }

  get spec(): ContainerSpec {
    return this.#options.spec;
  }

  get state(): GivenContainer {
    return this.#state;
  }

  /** Resolves once the container does not run and will not run again. True: it has succeeded. Never rejects. */
  async live(): Promise<boolean> {
    if (this.#state.state === 'waiting') await this.#runAll().catch(ignoreFailure);
    this.#noteStarted();
    return this.#state.state === 'exited' && this.#state.exitCode === 0;
  }

  /** Rejects where nobody can say whether the container runs again: then it does not. */
  async #runAll(): Promise<void> {
    const { ending } = this.#options;
    while (!ending.aborted) {
      const end = await this.#runOnce();
      const ended = this.#state;
      if (ending.aborted) return;
      if (!this.#mayRunAgain(end.exitCode)) {
        if (end.exitCode === 0) this.#report.succeeded();
        return;
      }
      await this.#backOff(end);
      // a container that ends at once and need not wait must leave room for others
      await nextTurn();
      await this.#renewValues(end, ended);
    }
  }

  /** The next run gets the values of now, as with a kubelet. It waits for those that are missing. */
  async #renewValues(lastState: GivenEnd, ended: GivenContainer): Promise<void> {
    const { spec, ending } = this.#options;
    const restartCount = this.#restartsBefore + this.#runs - 1;
    await this.#values.renew((wait) => this.#become({ name: spec.name, state: 'waiting', restartCount, ...wait, lastState }));
    if (ending.aborted && this.#state !== ended) this.#become(ended);
  }

  async #runOnce(): Promise<GivenEnd> {
    const { spec, clock } = this.#options;
    const id = `container://${randomUUID()}`;
    const startedAt = clock.now();
    const common = { name: spec.name, restartCount: this.#restartsBefore + this.#runs++, lastState: this.#lastEnd };
    this.#become({ ...common, state: 'running', id, startedAt });
    if (!spec.startupProbe) this.#noteStarted();
    const how = await this.#call(id);
    this.connections.end(how.exitCode);
    const end = { ...how, id, startedAt, finishedAt: Math.max(startedAt, clock.now()) };
    this.#become({ ...common, state: 'exited', ...end });
    this.#lastEnd = end;
    return end;
  }

  async #call(id: string): Promise<GivenEnd> {
    const { runContainer } = this.#options;
    const { pod, spec } = this.#values;
    // the listeners that a run leaves on its signals go with it, and do not add up over many runs
    const [stop, kill] = [new LinkedAbort(this.#options.stop), new LinkedAbort(this.#options.kill)];
    try {
      const ready = (isReady: boolean): void => this.#setReady(id, isReady === true);
      const streams = this.connections.begin({ pod, spec }, this.#options.kill);
      const { stdout, stderr, stdin } = streams;
      const onResize = (listener: (size: TerminalSize) => void): void => streams.onResize(listener);
      const run = { pod, stop: stop.signal, kill: kill.signal, ready, stdout, stderr, stdin, onResize };
      void this.#report.begins();
      const exitCode: unknown = (await runContainer(spec, run)) ?? 0;
      if (!isInt32(exitCode))
        throw new TypeError(`runContainer() resolved to ${shortErrorText(exitCode)}, which is no exit code`);
      this.#report.ended();
      return { exitCode: exitCode as number };
    } catch (error) {
      this.#report.failed(error, stop.signal.aborted || kill.signal.aborted);
      return { ...startError, message: shortErrorText(error) };
    } finally {
      stop.release();
      kill.release();
    }
  }

  #setReady(id: string, ready: boolean): void {
    const { state } = this;
    if (state.id !== id || state.state !== 'running' || state.ready === ready) return;
    this.#become({ ...state, ready, ...(ready && { started: true }) });
    if (ready) this.#noteStarted();
  }

  /** The end that an earlier process of the agent has told, where the container does not run again after it. */
  #finalEnd(): GivenContainer | undefined {
    const { pod, spec } = this.#options;
    const told = toldOf(pod, spec.name);
    const { exitCode, reason, message } = told?.state?.terminated ?? {};
    if (!isInt32(exitCode)) return undefined;
    // with the pod's policy Always, init containers run again before the others do
    const isOver = !containerShouldRestart(spec, pod.spec.restartPolicy, exitCode as number);
    return isOver ? { name: spec.name, state: 'exited', exitCode, reason, message } : undefined;
  }

  #mayRunAgain(exitCode: number): boolean {
    const { pod, spec, isInit } = this.#options;
    if (isInit && !this.isSidecar && exitCode === 0) return false;
    return containerShouldRestart(spec, pod.spec.restartPolicy, exitCode);
  }

  /** Waits until the container may be started again, or should end. */
  async #backOff(end: GivenEnd): Promise<void> {
    const { pod, spec, backoff, clock, ending } = this.#options;
    const ended = this.#state;
    const finishedAt = Number(end.finishedAt);
    const exited = { id: end.id ?? '', name: spec.name, state: 'exited', exitCode: end.exitCode, finishedAt } as const;
    const restartCount = this.#restartsBefore + this.#runs - 1;
    for (let isFirst = true; ; isFirst = false) {
      const answer = backoff.tryRestart(pod, spec, { containers: [exited] });
      if (isFirst) this.#report.startsAgain(end, restartCount, answer);
      if (!answer.wait) return;
      const { reason, message } = answer;
      this.#become({ name: spec.name, state: 'waiting', restartCount, reason, message, lastState: end });
      await sleep(clock, answer.remainingMs, ending);
      if (ending.aborted) return this.#become(ended);
    }
  }

  #become(state: GivenContainer): void {
    this.#state = state;
    this.#options.changed();
  }
}

/** What an earlier run of the agent has told: the next start of a container that ran then is a restart. */
function restartsBefore(pod: NodePod, name: string): number {
  const told = toldOf(pod, name);
  if (told === undefined) return 0;
  const { restartCount, state, lastState } = told;
  const last = (state?.running ?? state?.terminated) ? undefined : lastState?.terminated;
  // a run of which nobody saw the end was counted when it was missed
  const isCounted = last?.reason === runtimeReason.containerStatusUnknown;
  const hasRun = isCounted ? undefined : (state?.running ?? state?.terminated ?? last);
  return (isInt32(restartCount, 0) ? restartCount : 0) + (hasRun == null ? 0 : 1);
}

function toldOf({ status }: NodePod, name: string) {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].find((one) => one.name === name);
}

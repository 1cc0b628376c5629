import type { Clock } from '../../base/clock.ts';
import { LinkedAbort, onAbort, untilAborted } from '../../base/concurrency/aborts.ts';
import { isInt32 } from '../../base/options.ts';
import type { GivenContainer } from '../pod-status/given-status.ts';
import type { ContainerLog, ContainerLogRequest, ContainerSpec, NodePod } from '../provider/pod-provider.ts';
import { shortErrorText } from '../provider/provider-calls.ts';
import { KubeletApiRefusal } from '../server/exchange.ts';
import type { ContainerStreams } from '../streams/container-streams.ts';
import type { KeptLog } from './kept-log.ts';
import type { PodLogs } from './kept-logs.ts';
import { readKeptLog } from './read-kept-log.ts';
import { RunStreams } from './run-streams.ts';

/** What a function gets that does something in a container that runs, or with its pod. */
export interface ContainerCall {
  /** The pod, with the values that the container was last started with. */
  readonly pod: NodePod;
  /** Aborts when nobody waits for it any more: the client is gone, the container has ended, or its pod is killed. */
  readonly signal: AbortSignal;
}

/** Runs a command beside the process of a container that runs, and resolves to the command's exit code; undefined counts as 0. */
export type ExecInContainer = (
  container: ContainerSpec,
  command: readonly string[],
  streams: ContainerStreams,
  call: ContainerCall,
) => Promise<number | undefined>;

export interface ContainerConnectionsOptions {
  readonly pod: NodePod;
  readonly spec: ContainerSpec;
  readonly clock: Clock;
  readonly logs: PodLogs;
}

/** What a run was started with. */
export interface RunValues {
  readonly pod: NodePod;
  readonly spec: ContainerSpec;
}

interface ConnectedRun extends RunValues {
  readonly streams: RunStreams;
  /** Aborts when the run is over or killed. */
  readonly over: AbortSignal;
  readonly exitCode: Promise<number>;
  readonly end: (exitCode: number) => void;
}

/** What clients see of one container: the logs of its last two runs, its streams, and commands beside it. */
export class ContainerConnections {
  readonly #options: ContainerConnectionsOptions;
  #run: ConnectedRun | undefined;
  /** Of the run that goes on, or else of the last one. */
  #log: KeptLog | undefined;
  /** Of the run before. */
  #previousLog: KeptLog | undefined;

  constructor(options: ContainerConnectionsOptions) {
    this.#options = options;
  }

  /** A run begins. */
  begin({ pod, spec }: RunValues, kill: AbortSignal): RunStreams {
    const { clock, logs } = this.#options;
    this.#previousLog?.discard();
    this.#previousLog = this.#log;
    const log = logs.open();
    this.#log = log;
    const { stdin = false, stdinOnce = false } = spec;
    const streams = new RunStreams({ log, clock, stdin, stdinOnce });
    const { promise, resolve } = Promise.withResolvers<number>();
    const over = new AbortController();
    const leave = onAbort(kill, () => over.abort(new Error(`${this.#title} is killed`)));
    this.#run = {
      pod,
      spec,
      streams,
      over: over.signal,
      exitCode: promise,
      end: (exitCode) => {
        leave();
        resolve(exitCode);
        over.abort(new Error(`${this.#title} has ended`));
      },
    };
    return streams;
  }

  /** The run is over. */
  end(exitCode: number): void {
    const run = this.#run;
    this.#run = undefined;
    run?.streams.end();
    run?.end(exitCode);
  }

  /** Throws a refusal, in a kubelet's words, where there is no log. */
  log(request: ContainerLogRequest, { state, reason }: GivenContainer, signal: AbortSignal): ContainerLog {
    // before its next run begins, the last run of a container is the previous one already
    const previous = state === 'waiting' ? this.#log : this.#previousLog;
    const log = request.previous ? previous : this.#log;
    if (log !== undefined) return readKeptLog(log, request, signal);
    if (request.previous) throw new KubeletApiRefusal(400, `previous terminated ${this.#title} not found`);
    if (state !== 'waiting') throw new KubeletApiRefusal(400, `${this.#title} is terminated`);
    const hasInits = (this.#options.pod.spec.initContainers ?? []).length > 0;
    const why = reason ?? (hasInits ? 'PodInitializing' : 'ContainerCreating');
    throw new KubeletApiRefusal(400, `${this.#title} is waiting to start: ${why}`);
  }

  /** Resolves to the exit code once the run is over, and to undefined once the client is gone. */
  async attach(streams: ContainerStreams, signal: AbortSignal): Promise<number | undefined> {
    const run = this.#run;
    if (run === undefined) throw this.#notFound();
    await run.streams.attach(streams, signal);
    return signal.aborted ? undefined : run.exitCode;
  }

  /** Rejects when the run is over, when the client is gone, and with what the command rejects with. */
  async exec(run: ExecInContainer, command: readonly string[], streams: ContainerStreams, signal: AbortSignal): Promise<number> {
    return this.call(signal, async (spec, call) => {
      const exitCode: unknown = (await run(spec, command, streams, call)) ?? 0;
      if (isInt32(exitCode)) return exitCode as number;
      throw new TypeError(`execInContainer() resolved to ${shortErrorText(exitCode)}, which is no exit code`);
    });
  }

  /** Makes a call that ends with the run of the container. */
  async call<T>(signal: AbortSignal, work: (spec: ContainerSpec, call: ContainerCall) => Promise<T>): Promise<T> {
    const run = this.#run;
    if (run === undefined) throw this.#notFound();
    return callUntil([signal, run.over], (over) => work(run.spec, { pod: run.pod, signal: over }));
  }

  get #title(): string {
    const { pod, spec } = this.#options;
    return `container ${JSON.stringify(spec.name)} in pod ${JSON.stringify(pod.metadata.name)}`;
  }

  #notFound(): KubeletApiRefusal {
    return new KubeletApiRefusal(500, `container not found (${JSON.stringify(this.#options.spec.name)})`);
  }
}

/** The call's own signal aborts with any of the signals, and once nobody waits any more. Rejects with the reason of the first one. */
export async function callUntil<T>(signals: readonly AbortSignal[], work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const linked = new LinkedAbort(...signals);
  try {
    linked.signal.throwIfAborted();
    return await untilAborted(work(linked.signal), linked.signal);
  } finally {
    linked.release();
    linked.abort();
  }
}

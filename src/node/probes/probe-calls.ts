// Behaviour of pkg/kubelet/prober/prober.go, v1.36.3.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { type WaitLimits, watchLimits } from '../../base/concurrency/aborts.ts';
import type { OneAtATime } from '../../base/concurrency/semaphore.ts';
import { errorText } from '../../base/errors.ts';
import { type EndedFailures, FailureRun } from '../../base/failure-run.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { RecoveryLines } from '../../base/logging/recovery-lines.ts';
import type { MetricLabels } from '../../base/metrics/metric-definitions.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { longestTimerMs } from '../../base/options.ts';
import { problemFields } from '../../base/problem.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { isLargeCommand, type ProbeTarget, probeTarget } from './network-prober.ts';
import { type ProbeFailure, type ProbeType, probeHelp, probeOf, probeTitles } from './probe-types.ts';
import { type Namesakes, type ProbeDefinition, probeFields } from './probed-container.ts';
import { goSeconds, type ProbeOutcome, type Prober } from './prober.ts';

const attempts = 3;
/** A prober that counts the time of commands itself may take so much longer, in milliseconds: it also has to start them. */
const execOverheadMs = 120_000;
const outcomes: readonly unknown[] = ['success', 'warning', 'failure', 'unknown'] satisfies ProbeOutcome['result'][];

export interface ProbeCallsOptions {
  readonly prober: Prober;
  readonly eventRecorder: EventRecorder;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Lets each pod run one command at a time that its variables have made large. */
  readonly largeCommands: OneAtATime;
  /** Of all probes: how many lines there may be of those that succeed again. */
  readonly recoveries: RecoveryLines;
}

/**
 * Makes the probes of one worker, and tells events of those that fail. A call that goes on after its time is over fails
 * again each time that its container is to be probed: there are never two calls for one container at once.
 */
export class ProbeCalls {
  readonly #definition: ProbeDefinition;
  readonly #options: ProbeCallsOptions;
  readonly #metrics: ProbeMetrics;
  /** The calls that have not settled, each with its container. */
  readonly #underWay = new Map<TimedCall, string>();
  /** The failures in a row, also where the container was started again meanwhile. */
  readonly #failures: FailureRun;
  /** How many of them are those of the container that runs now. */
  #ofContainer = { containerID: '', failures: 0 };
  /** The log has told of the failures in a row. */
  #isTold = false;
  #lastAt = 0;

  constructor(definition: ProbeDefinition, options: ProbeCallsOptions, namesakes: Namesakes) {
    this.#definition = definition;
    this.#options = options;
    this.#failures = new FailureRun(options.clock, (ended) => this.#recovered(ended));
    this.#metrics = new ProbeMetrics(options, namesakes, definition);
  }

  /** Resolves when every call has settled; never, where one does not settle. */
  async settled(): Promise<void> {
    await Promise.all(Array.from(this.#underWay.keys(), ({ settled }) => settled));
  }

  /** What the probe says of the container; undefined where it says nothing, as it could not be made, or was given up. */
  async run(containerID: string, podIP: string | undefined, signal: AbortSignal): Promise<'Success' | 'Failure' | undefined> {
    const startedAt = this.#metrics.now();
    const outcome = await this.#outcome(containerID, podIP, signal);
    if (outcome === undefined || signal.aborted) return undefined;
    const said = this.#judge(outcome);
    this.#count(containerID, said, outcome);
    this.#metrics.count(said, startedAt);
    return said;
  }

  /** Undefined while the probe has not failed as often in a row as its threshold says. */
  failure(): ProbeFailure | undefined {
    const { container, type, settings } = this.#definition;
    const { failing } = this.#failures;
    if (failing === undefined || failing.attempt < settings.failureThreshold) return undefined;
    return { type, containerName: container.name, ...failing, retryAt: this.#lastAt + settings.periodMs };
  }

  /** No probe follows: its series end. */
  end(): void {
    this.#metrics.end();
  }

  async #outcome(containerID: string, podIP: string | undefined, signal: AbortSignal): Promise<ProbeOutcome | undefined> {
    const { pod, container, type } = this.#definition;
    const probe = probeOf(container, type);
    if (probe === undefined) return { result: 'success' };
    const aimed = (): ProbeTarget => probeTarget({ pod, container, probe, containerID, podIP });
    try {
      const aim = aimed();
      if (!isLargeCommand(probe, aim)) return await this.#attempts(aim, signal);
    } catch (error) {
      return { result: 'unknown', error };
    }
    // made anew when it is its turn: what waits holds nothing
    const whenItsTurn = async () => (signal.aborted ? undefined : this.#attempts(aimed(), signal));
    return this.#options.largeCommands.run(podUIDOf(pod), whenItsTurn);
  }

  /** Never rejects. Undefined for a call that was given up. */
  async #attempts(aim: ProbeTarget, signal: AbortSignal): Promise<ProbeOutcome | undefined> {
    const { settings } = this.#definition;
    const { containerID } = aim.target;
    let outcome: ProbeOutcome | undefined;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      if (Array.from(this.#underWay.values()).includes(containerID)) {
        return { result: 'failure', output: `the probe before has not ended within ${goSeconds(settings.timeoutSeconds)}` };
      }
      outcome = await this.#call(aim, signal);
      if (outcome === undefined || outcome.error === undefined) return outcome;
    }
    return outcome;
  }

  /** Never rejects. Undefined for a call that was given up. */
  async #call(aim: ProbeTarget, signal: AbortSignal): Promise<ProbeOutcome | undefined> {
    const { prober, clock, logger } = this.#options;
    const { containerID, timeoutSeconds } = aim.target;
    let call: TimedCall;
    try {
      const overheadMs = aim.method === 'exec' && prober.timesExec === true ? execOverheadMs : 0;
      const timeoutMs = Math.min(timeoutSeconds * 1000 + overheadMs, longestTimerMs);
      const limits = { clock, timeoutMs, signal };
      call = timedCall((limit) => callMethod(prober, aim, limit), limits);
    } catch (error) {
      return { result: 'unknown', error };
    }
    this.#underWay.set(call, containerID);
    void call.settled.then(() => this.#underWay.delete(call));
    const end = await call.end;
    // a call that has ended in time has settled, too
    if (end.kind === 'answer' || end.kind === 'error') await call.settled;
    if (end.kind === 'given-up') return undefined;
    if (end.kind === 'timeout') return { result: 'failure', output: timeoutText(aim) };
    if (end.kind === 'error') return { result: 'unknown', error: end.error ?? new Error('the prober has failed') };
    const outcome = checked(end.value);
    if (outcome === undefined)
      logger.error(
        { ...probeFields(this.#definition), type: typeof end.value },
        'the prober gave no outcome; the probe has failed',
      );
    return outcome ?? { result: 'failure', output: 'the prober gave no outcome' };
  }

  /** The log says it once for each run of the container: when the failures count. */
  #count(containerID: string, said: 'Success' | 'Failure' | undefined, { output, error }: ProbeOutcome): void {
    const { clock, logger } = this.#options;
    const { settings, type } = this.#definition;
    this.#lastAt = clock.now();
    if (this.#ofContainer.containerID !== containerID) this.#ofContainer = { containerID, failures: 0 };
    if (said === 'Success') {
      this.#failures.succeeded();
      this.#ofContainer.failures = 0;
      return;
    }
    const failing = this.#failures.failed(error ?? output ?? '');
    this.#ofContainer.failures += 1;
    // a probe that could not be made has a line of its own
    if (said === undefined) this.#isTold = true;
    if (said === undefined || this.#ofContainer.failures !== settings.failureThreshold) return;
    const problem = problemFields({ ...failing, kind: `${type}-probe`, help: probeHelp[type] }, clock.now());
    this.#isTold = true;
    logger.warn(
      { ...probeFields(this.#definition), reason: failing.message, ...problem },
      'a probe of a container has failed as often as its threshold says',
    );
  }

  #recovered(ended: EndedFailures): void {
    const wasTold = this.#isTold;
    this.#isTold = false;
    const { recoveries, logger } = this.#options;
    if (wasTold && recoveries.take())
      logger.info({ ...probeFields(this.#definition), ...ended }, 'a probe of a container succeeds again');
  }

  #judge({ result, output, error }: ProbeOutcome): 'Success' | 'Failure' | undefined {
    const { eventRecorder, logger } = this.#options;
    const { type } = this.#definition;
    const title = probeTitles[type];
    const tell = (reason: 'Unhealthy' | 'ProbeWarning', says: string): void =>
      probeEvent(eventRecorder, this.#definition, reason, `${title} probe ${says}`);
    if (error !== undefined) {
      tell('Unhealthy', `errored and resulted in ${result} state: ${errorText(error)}`);
      logger.warn({ err: error, ...probeFields(this.#definition) }, 'a probe could not be made; it says nothing');
      return undefined;
    }
    if (result === 'warning') tell('ProbeWarning', `warning: ${output ?? ''}`);
    if (result === 'failure') tell('Unhealthy', `failed: ${output ?? ''}`);
    return result === 'success' || result === 'warning' ? 'Success' : 'Failure';
  }
}

function callMethod(prober: Prober, { method, target }: ProbeTarget, signal: AbortSignal): unknown {
  switch (method) {
    case 'exec':
      return prober.exec(target, signal);
    case 'http':
      return prober.http(target, signal);
    case 'tcp':
      return prober.tcp(target, signal);
    case 'grpc':
      return prober.grpc(target, signal);
  }
}

/** What the prober has answered; undefined for anything but an outcome. */
function checked(value: unknown): ProbeOutcome | undefined {
  try {
    const { result, output, error } = value as ProbeOutcome;
    if (!outcomes.includes(result) || (output !== undefined && typeof output !== 'string')) return undefined;
    return { result, ...(output !== undefined && { output }), ...(error !== undefined && { error }) };
  } catch {
    return undefined;
  }
}

function timeoutText({ method, target }: ProbeTarget): string {
  const time = goSeconds(target.timeoutSeconds);
  if (method !== 'exec') return `the probe has not ended within ${time}`;
  return `command timed out: ${JSON.stringify(target.command.join(' '))} timed out after ${time}`;
}

/** How a call has ended. `timeout`: in time it has said nothing. `given-up`: nobody wants to know any more. */
export type CallEnd =
  | { readonly kind: 'answer'; readonly value: unknown }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'given-up' };

interface TimedCall {
  /** Never rejects. */
  readonly end: Promise<CallEnd>;
  /** Resolves when the call itself has settled, which may be later than `end`, or never. Never rejects. */
  readonly settled: Promise<void>;
}

/**
 * Calls an injected function with a signal that aborts after `timeoutMs`. An answer that the function still gives within a
 * turn of the event loop counts; what it then throws does not. Throws what a clock throws that sets no timer: the function
 * is not called without a limit.
 */
function timedCall(call: (signal: AbortSignal) => unknown, limits: WaitLimits): TimedCall {
  const controller = new AbortController();
  const { promise: end, resolve } = Promise.withResolvers<CallEnd>();
  if (limits.signal?.aborted) return { end: Promise.resolve({ kind: 'given-up' }), settled: Promise.resolve() };
  let isLate = false;
  const unwatch = watchLimits(limits, {
    onTimeout: () => {
      isLate = true;
      controller.abort(new DOMException('The time of the probe is over', 'TimeoutError'));
      void nextTurn().then(() => resolve({ kind: 'timeout' }));
    },
    onAbort: (reason) => {
      resolve({ kind: 'given-up' });
      controller.abort(reason);
    },
  });
  const settled = invoke(call, controller.signal)
    .then(
      (value) => resolve({ kind: 'answer', value }),
      (error: unknown) => resolve(isLate ? { kind: 'timeout' } : { kind: 'error', error }),
    )
    .then(unwatch);
  return { end, settled };
}

async function invoke(call: (signal: AbortSignal) => unknown, signal: AbortSignal): Promise<unknown> {
  return call(signal);
}

type Result = MetricLabels['prober_probe_total']['result'];

const results: readonly Result[] = ['successful', 'failed', 'unknown'];
const types = { liveness: 'Liveness', readiness: 'Readiness', startup: 'Startup' } as const satisfies Record<ProbeType, string>;

/** Measures the probes of one worker. */
class ProbeMetrics {
  readonly #metrics: Metrics;
  readonly #clock: SteadyClock;
  readonly #labels: MetricLabels['prober_probe_duration_seconds'];
  readonly #podUID: string;
  readonly #namesakes: Namesakes;
  readonly #name: string;

  constructor(
    { metrics, clock }: { readonly metrics: Metrics; readonly clock: SteadyClock },
    namesakes: Namesakes,
    { pod, container, type }: ProbeDefinition,
  ) {
    const { name = '', namespace = '', uid = '' } = pod.metadata ?? {};
    this.#metrics = metrics;
    this.#clock = clock;
    this.#labels = { probe_type: types[type], container: container.name, pod: name, namespace };
    this.#podUID = uid;
    this.#namesakes = namesakes;
    this.#name = [namespace, name, container.name, type].join('/');
    namesakes.begin(this.#name);
  }

  /** By the clock that only grows. */
  now(): number {
    return this.#clock.elapsed();
  }

  count(said: 'Success' | 'Failure' | undefined, startedAt: number): void {
    const result = said === undefined ? 'unknown' : said === 'Success' ? 'successful' : 'failed';
    this.#metrics.increment('prober_probe_total', this.#ofResult(result));
    if (said !== 'Success') return;
    const seconds = (this.#clock.elapsed() - startedAt) / 1000;
    this.#metrics.observe('prober_probe_duration_seconds', seconds, this.#labels);
  }

  /** The container is probed no more in this way. */
  end(): void {
    for (const result of results) this.#metrics.remove('prober_probe_total', this.#ofResult(result));
    // a pod that was created anew has the series of this name, too
    if (this.#namesakes.end(this.#name)) this.#metrics.remove('prober_probe_duration_seconds', this.#labels);
  }

  #ofResult(result: Result): MetricLabels['prober_probe_total'] {
    return { ...this.#labels, pod_uid: this.#podUID, result };
  }
}

/** Writes an event about one container. Behaviour of pkg/kubelet/container GenerateContainerRef, v1.36.3. */
function probeEvent(
  recorder: EventRecorder,
  { pod, container }: ProbeDefinition,
  reason: 'Unhealthy' | 'ProbeWarning',
  message: string,
): void {
  recorder.event(pod, 'Warning', reason, message, fieldPath(pod, container.name));
}

function fieldPath(pod: Pod, name: string): string {
  const isRegular = pod.spec?.containers.some((container) => container.name === name);
  return `spec.${isRegular ? 'containers' : 'initContainers'}{${name}}`;
}

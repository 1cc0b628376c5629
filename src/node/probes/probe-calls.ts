// Behaviour of pkg/kubelet/prober/prober.go, v1.36.3.

import type { SteadyClock } from '../../base/clock.ts';
import type { OneAtATime } from '../../base/concurrency/semaphore.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { longestTimerMs } from '../../base/options.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { goSeconds } from './go-words.ts';
import type { Namesakes } from './namesakes.ts';
import { probeEvent } from './probe-event.ts';
import { ProbeMeasures } from './probe-measures.ts';
import { isLargeCommand, type ProbeTarget, probeTarget } from './probe-target.ts';
import { probeOf, probeTitles } from './probe-types.ts';
import type { ProbeDefinition } from './probed-container.ts';
import type { ProbeOutcome, Prober } from './prober.ts';
import { type TimedCall, timedCall } from './timed-call.ts';

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
}

/**
 * Makes the probes of one worker, and tells events of those that fail. A call that goes on after its time is over fails
 * again each time that its container is to be probed: there are never two calls for one container at once.
 */
export class ProbeCalls {
  readonly #definition: ProbeDefinition;
  readonly #options: ProbeCallsOptions;
  readonly #measures: ProbeMeasures;
  /** The calls that have not settled, each with its container. */
  readonly #underWay = new Map<TimedCall, string>();

  constructor(definition: ProbeDefinition, options: ProbeCallsOptions, namesakes: Namesakes) {
    this.#definition = definition;
    this.#options = options;
    this.#measures = new ProbeMeasures(options, namesakes, definition);
  }

  /** Resolves when every call has settled; never, where one does not settle. */
  async settled(): Promise<void> {
    await Promise.all(Array.from(this.#underWay.keys(), ({ settled }) => settled));
  }

  /** What the probe says of the container; undefined where it says nothing, as it could not be made, or was given up. */
  async run(containerID: string, podIP: string | undefined, signal: AbortSignal): Promise<'Success' | 'Failure' | undefined> {
    const startedAt = this.#measures.now();
    const outcome = await this.#outcome(containerID, podIP, signal);
    if (outcome === undefined || signal.aborted) return undefined;
    const said = this.#judge(outcome);
    this.#measures.count(said, startedAt);
    return said;
  }

  /** No probe follows: its series end. */
  end(): void {
    this.#measures.end();
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
    return this.#options.largeCommands.run(pod.metadata?.uid ?? '', whenItsTurn);
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
    if (outcome === undefined) logger.error({ answer: typeof end.value }, 'the prober gave no outcome; the probe has failed');
    return outcome ?? { result: 'failure', output: 'the prober gave no outcome' };
  }

  #judge({ result, output, error }: ProbeOutcome): 'Success' | 'Failure' | undefined {
    const { eventRecorder, logger } = this.#options;
    const { pod, container, type } = this.#definition;
    const title = probeTitles[type];
    const tell = (reason: 'Unhealthy' | 'ProbeWarning', says: string): void =>
      probeEvent(eventRecorder, this.#definition, reason, `${title} probe ${says}`);
    if (error !== undefined) {
      tell('Unhealthy', `errored and resulted in ${result} state: ${textOf(error)}`);
      const fields = { err: error, podUID: pod.metadata?.uid, container: container.name, type };
      logger.warn(fields, 'a probe could not be made; it says nothing');
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

function textOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return 'an error without a text';
  }
}

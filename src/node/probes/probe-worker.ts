// Behaviour of pkg/kubelet/prober/worker.go (run), v1.36.3.

import type { PodStatus } from '../../api/json/types.ts';
import type { CancelTimer, SteadyClock } from '../../base/clock.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { AgentStart } from './agent-start.ts';
import type { ProbeCalls } from './probe-calls.ts';
import type { ProbeResult } from './probe-types.ts';
import { type ProbeDefinition, ProbedContainer, probeFields } from './probed-container.ts';

/** What a worker gets from the manager, and what it tells it. None of these throws. */
export interface ProbeWorkerContext {
  readonly calls: ProbeCalls;
  readonly agentStart: AgentStart;
  readonly clock: SteadyClock;
  readonly random: () => number;
  readonly logger: Logger;
  /** The pod's status now; undefined where nobody knows it. */
  readonly podStatus: () => PodStatus | undefined;
  readonly result: (containerID: string, result: ProbeResult) => void;
  /** The result of this container counts no more. */
  readonly forget: (containerID: string) => void;
  /** The worker has come to its end by itself. */
  readonly ended: () => void;
}

/** One probe of one container, made again and again: never twice at once, and never after `stop`. */
export class ProbeWorker {
  readonly #definition: ProbeDefinition;
  readonly #context: ProbeWorkerContext;
  readonly #container: ProbedContainer;
  readonly #over = new AbortController();
  #cancelTimer: CancelTimer | undefined;
  /** `waiting`: for its random start. */
  #state: 'waiting' | 'idle' | 'probing' = 'waiting';
  /** What has come up while a probe was under way, or before the first one: at most one of each. */
  readonly #due = { tick: false, trigger: false };

  constructor(definition: ProbeDefinition, context: ProbeWorkerContext) {
    this.#definition = definition;
    this.#context = context;
    this.#container = new ProbedContainer(definition);
  }

  /** Looks at the container at once; while the agent is younger than a period, after a random part of the period. */
  start(): void {
    const { random, agentStart } = this.#context;
    const { periodMs } = this.#definition.settings;
    const waits = periodMs > agentStart.ageMs && this.#setTimer(random() * periodMs, () => this.#begin());
    if (!waits) this.#begin();
  }

  /** Looks at the container as soon as no probe is under way, and then again after a whole period. */
  trigger(): void {
    this.#due.trigger = true;
    this.#look();
  }

  /** Gives the probe under way up, and forgets the result. A second call does nothing. */
  stop(): void {
    if (this.#over.signal.aborted) return;
    this.#over.abort();
    this.#cancelTimer?.();
    if (this.#container.containerID !== undefined) this.#context.forget(this.#container.containerID);
  }

  #begin(): void {
    this.#state = 'idle';
    this.#cancelTimer = undefined;
    this.#due.tick = true;
    this.#look();
  }

  #look(): void {
    if (this.#state !== 'idle' || this.#over.signal.aborted) return;
    if (this.#due.tick || this.#due.trigger) void this.#round();
  }

  /** One probe, and the next one if it is due by then. Never rejects. */
  async #round(): Promise<void> {
    this.#state = 'probing';
    // whoever has asked for the probe is in the middle of its own work, and may ask again
    await undefined;
    if (this.#over.signal.aborted) return;
    if (this.#due.trigger || this.#cancelTimer === undefined) this.#setTicker();
    this.#due.tick = false;
    this.#due.trigger = false;
    let goesOn = true;
    try {
      goesOn = await this.#probe();
    } catch (err) {
      this.#context.logger.error({ err, ...probeFields(this.#definition) }, 'a probe failed');
    }
    if (this.#over.signal.aborted) return;
    this.#state = 'idle';
    if (goesOn) {
      this.#look();
      return;
    }
    this.stop();
    this.#context.ended();
  }

  /** True when the worker goes on. */
  async #probe(): Promise<boolean> {
    const { calls, podStatus, result, forget, clock, agentStart } = this.#context;
    // asked at every look, so that it is seen early when the clock is set back
    const agentStartedAt = agentStart.ms;
    const status = podStatus();
    const step = this.#container.observe(status, { now: clock.now(), elapsed: clock.elapsed(), agentStartedAt });
    const { containerID } = this.#container;
    if (step.forget !== undefined) forget(step.forget);
    if (containerID === undefined) return step.next !== 'end';
    for (const one of step.results) this.#tell(result, containerID, one);
    if (step.next !== 'probe') return step.next === 'wait';
    const said = await calls.run(containerID, status?.podIP, this.#over.signal);
    if (said === undefined) return true;
    const told = this.#container.conclude(said);
    if (told !== undefined) this.#tell(result, containerID, told);
    return true;
  }

  /** Whoever hears of a result may stop this worker. */
  #tell(result: ProbeWorkerContext['result'], containerID: string, one: ProbeResult): void {
    if (!this.#over.signal.aborted) result(containerID, one);
  }

  /** Ticks from now on, once a period. */
  #setTicker(): void {
    this.#setTimer(this.#definition.settings.periodMs, () => {
      this.#setTicker();
      this.#due.tick = true;
      this.#look();
    });
  }

  /** False when the clock sets none. */
  #setTimer(delayMs: number, callback: () => void): boolean {
    const { clock, logger } = this.#context;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#cancelTimer = callGuarded(
      () => clock.setTimer(callback, delayMs),
      (err) =>
        logger.error(
          { err, ...probeFields(this.#definition) },
          'the clock set no timer; the container is probed when the agent asks for it',
        ),
    );
    return this.#cancelTimer !== undefined;
  }
}

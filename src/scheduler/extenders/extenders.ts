// Behaviour of findNodesThatPassExtenders, prioritizeNodes, extendersBinding and callExtenders, v1.36.3.

import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { errorText } from '../../base/errors.ts';
import { endedFailures } from '../../base/failure-run.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { problemFields } from '../../base/problem.ts';
import type { RequestGuard } from '../../client/transport/request-guard.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { Extender, ExtenderFilterResult, ExtenderRefusal } from './extender.ts';
import { ExtenderError, type ExtenderStep } from './extender-error.ts';
import { requireOneBinder } from './extender-options.ts';
import { ExtenderReports, type FailingExtender, passedOver } from './extender-reports.ts';
import type { PreemptionCandidate } from './extender-wire.ts';

export interface ExtendersOptions {
  readonly clock: SteadyClock;
  readonly logger: Logger;
  /** Asked right before an extender is asked to bind a pod; throws where this process may not write. */
  readonly guard: RequestGuard;
  /** Where it is told whom they are asked of. Default: nobody looks. */
  readonly reports?: ExtenderReports;
}

/** The log tells so often of one extender that fails and is passed over, in milliseconds. */
const toldEveryMs = 60_000;

/** A plugin's scores are from 0 to 100, an extender's from 0 to 10. */
const scoreFactor = 100 / 10;

/**
 * The extenders of one profile. They are asked one after the other, those that are ignorable last; of scores all are asked at once.
 * Where one fails that is not ignorable, the step rejects with an ExtenderError. Once the signal aborts, every step rejects with its reason.
 */
export class Extenders {
  readonly #extenders: readonly Extender[];
  readonly #options: ExtendersOptions | undefined;
  readonly #reports: ExtenderReports;
  /** When the log has told of an extender, by `elapsed` of the clock. */
  readonly #toldAt = new Map<Extender, number>();

  /** Without options there are none. Throws ERR_INVALID_OPTION where more than one binds. */
  constructor(extenders: readonly Extender[] = [], options?: ExtendersOptions) {
    requireOneBinder(
      'extenders',
      extenders.map((extender) => extender.options),
    );
    const isIgnorable = ({ options: { ignorable } }: Extender): boolean => ignorable;
    this.#extenders = [...extenders.filter((one) => !isIgnorable(one)), ...extenders.filter(isIgnorable)];
    this.#options = options;
    this.#reports = options?.reports ?? new ExtenderReports();
  }

  get size(): number {
    return this.#extenders.length;
  }

  /** True where one of them leaves out nodes, or scores them, for some pod. */
  get looksAtNodes(): boolean {
    return this.#extenders.some(({ options: { filterVerb, prioritizeVerb } }) => filterVerb !== '' || prioritizeVerb !== '');
  }

  /** True where one of them has a say in the choice of the pod's node: the choice has to wait for it. */
  hasSayIn(pod: PodInfo): boolean {
    return this.#extenders.some(
      (extender) =>
        (extender.options.filterVerb !== '' || extender.options.prioritizeVerb !== '' || extender.options.preemptVerb !== '') &&
        extender.isInterestedIn(pod),
    );
  }

  /** The nodes that all of them leave. */
  async filter(pod: PodInfo, nodes: readonly NodeInfo[], signal: AbortSignal): Promise<ExtenderFilterResult> {
    const refusals = new Map<string, ExtenderRefusal>();
    let feasible = nodes;
    for (const extender of this.#askedFor('filterVerb', pod)) {
      if (feasible.length === 0) break;
      const answer = await this.#ask(extender, 'filter', pod, signal, () => extender.filter(pod, feasible, signal));
      if (answer === undefined) continue;
      for (const [name, refusal] of answer.refusals) refusals.set(name, refusal);
      feasible = answer.feasible;
    }
    return { feasible, refusals };
  }

  /** What the extenders add to the total of each node, in the order of the nodes. One that fails adds nothing, ignorable or not. */
  async prioritize(pod: PodInfo, nodes: readonly NodeInfo[], signal: AbortSignal): Promise<readonly number[]> {
    const asked = [...this.#askedFor('prioritizeVerb', pod)];
    const answers = await Promise.all(
      asked.map((extender) =>
        this.#ask(extender, 'prioritize', pod, signal, () => extender.prioritize(pod, nodes, signal), true),
      ),
    );
    return nodes.map(({ name }) =>
      asked.reduce((sum, { options }, index) => sum + (answers[index]?.get(name) ?? 0) * options.weight * scoreFactor, 0),
    );
  }

  /** The candidates that all of them leave, with the victims that they leave. */
  async narrow(
    pod: PodInfo,
    candidates: readonly PreemptionCandidate[],
    nodeOf: (name: string) => NodeInfo | undefined,
    signal: AbortSignal,
  ): Promise<readonly PreemptionCandidate[]> {
    let left = candidates;
    for (const extender of this.#askedFor('preemptVerb', pod)) {
      if (left.length === 0) break;
      const { ignorable } = extender.options;
      left =
        (await this.#ask(extender, 'preempt', pod, signal, async () => {
          const answer = await extender.narrow(pod, left, nodeOf, signal);
          const empty = answer.find(({ victims }) => victims.length === 0);
          if (empty !== undefined && !ignorable) throw new Error(`it left no pod to end on the node ${empty.nodeName}`);
          return answer.filter(({ victims }) => victims.length > 0);
        })) ?? left;
    }
    return left;
  }

  /** True once an extender has bound the pod; false where none of them is to, or the one that is has failed and is ignorable. */
  async bind(pod: PodInfo, nodeName: string, signal: AbortSignal): Promise<boolean> {
    for (const extender of this.#askedFor('bindVerb', pod)) {
      const guard = this.#options?.guard ?? (() => {});
      const isBound = await this.#ask(extender, 'bind', pod, signal, async () => {
        await extender.bind(pod, nodeName, signal, guard);
        return true;
      });
      if (isBound === true) return true;
    }
    return false;
  }

  *#askedFor(verb: 'filterVerb' | 'prioritizeVerb' | 'preemptVerb' | 'bindVerb', pod: PodInfo): Generator<Extender> {
    for (const extender of this.#extenders) if (extender.options[verb] !== '' && extender.isInterestedIn(pod)) yield extender;
  }

  /** Undefined where the extender has failed and is passed over. */
  async #ask<T>(
    extender: Extender,
    step: ExtenderStep,
    pod: PodInfo,
    signal: AbortSignal,
    call: () => Promise<T>,
    isPassedOver = extender.options.ignorable,
  ): Promise<T | undefined> {
    const { name, options } = extender;
    const sinceMs = this.#options?.clock.elapsed() ?? 0;
    const ended = this.#reports.asks(pod.uid, { extender: name, step, sinceMs, timeoutMs: options.timeoutMs });
    try {
      signal.throwIfAborted();
      const answer = await call();
      this.#tellOfAnswer(this.#reports.answered(name, step));
      return answer;
    } catch (cause) {
      signal.throwIfAborted();
      const error = new ExtenderError(name, step, pod.key, errorText(cause), { cause });
      if (!isPassedOver) throw error;
      this.#tellOf(extender, pod, error);
      return undefined;
    } finally {
      ended();
    }
  }

  #tellOf(extender: Extender, pod: PodInfo, err: ExtenderError): void {
    const { clock, logger } = this.#options ?? {};
    if (clock === undefined || logger === undefined) return;
    const now = clock.elapsed();
    const tells = now - (this.#toldAt.get(extender) ?? Number.NEGATIVE_INFINITY) >= toldEveryMs;
    const { attempt, sinceMs } = this.#reports.failed(err, now, tells);
    if (!tells) return;
    this.#toldAt.set(extender, now);
    const problem = problemFields({ ...passedOver(err), attempt, since: sinceMs }, now);
    logger.warn({ err, url: extender.name, ...podFields(pod), ...problem }, 'an extender failed and is passed over');
  }

  #tellOfAnswer(failed: FailingExtender | undefined): void {
    const { clock, logger } = this.#options ?? {};
    if (clock === undefined || logger === undefined || failed?.isTold !== true) return;
    const { extender: url, attempt, sinceMs: since } = failed;
    logger.info(
      { url, ...endedFailures({ attempt, since }, clock.elapsed()) },
      'an extender that was passed over has its say again',
    );
  }
}

import type { WirePodCondition } from '../../../../src/index.ts';
import { isTerminal, type PlainStatus } from '../said/plain-status.ts';
import { endedReadiness, readinessTypes } from '../said/readiness.ts';
import { differences } from './differences.ts';

export interface Landing {
  /** What stood there before the write; undefined where that is not known. */
  readonly before: PlainStatus | undefined;
  /** Condition types that another writer wrote since: they are not compared. */
  readonly overwritten?: ReadonlySet<string>;
  /** A terminal phase may wait, with its reason and message, for containers that could run. */
  readonly mayBeHeldBack: boolean;
}

/** Where `found` on the apiserver differs from what must follow from what the agent said; empty: nowhere. */
export function whatIsWrong(said: PlainStatus, found: PlainStatus, { before, overwritten, mayBeHeldBack }: Landing): string[] {
  const base = before ?? found;
  const wrong = differencesOf(asSaid(said, base, found), found, overwritten);
  if (wrong.length === 0 || !mayBeHeldBack || !isTerminal(said) || isTerminal(base)) return wrong;
  return differencesOf(heldBack(said, base), found, overwritten);
}

function differencesOf(expected: PlainStatus, found: PlainStatus, overwritten: ReadonlySet<string> | undefined): string[] {
  if (overwritten === undefined || overwritten.size === 0) return differences(expected, found);
  const conditions = { ...expected.conditions };
  for (const type of overwritten) Object.assign(conditions, { [type]: found.conditions[type] });
  return differences({ ...expected, conditions }, found);
}

function asSaid(said: PlainStatus, base: PlainStatus, found: PlainStatus): PlainStatus {
  const filled = withGenerations(said, base);
  return isTerminal(said) ? { ...filled, conditions: neverReady(filled, base, found) } : filled;
}

function heldBack(said: PlainStatus, base: PlainStatus): PlainStatus {
  const { phase: _phase, reason: _reason, message: _message, ...rest } = withGenerations(said, base);
  const { phase, reason, message } = base;
  return { ...rest, ...(phase && { phase }), ...(reason && { reason }), ...(message && { message }) };
}

/** A generation that the agent leaves out stays as the server has it. */
function withGenerations(said: PlainStatus, base: PlainStatus): PlainStatus {
  const conditions: Record<string, WirePodCondition> = {};
  for (const [type, condition] of Object.entries(said.conditions)) {
    const observedGeneration = condition.observedGeneration ?? base.conditions[type]?.observedGeneration;
    conditions[type] = observedGeneration === undefined ? condition : { ...condition, observedGeneration };
  }
  const observedGeneration = said.observedGeneration ?? base.observedGeneration;
  return { ...said, conditions, ...(observedGeneration === undefined ? {} : { observedGeneration }) };
}

/** A pod that has ended is not Ready, also when the agent says that it is. Only the manager knows the moment of that change. */
function neverReady(said: PlainStatus, base: PlainStatus, found: PlainStatus): PlainStatus['conditions'] {
  if (readinessTypes.every((type) => said.conditions[type]?.status !== 'True')) return said.conditions;
  const verdict = endedReadiness(said.phase);
  const conditions = { ...said.conditions };
  for (const type of readinessTypes) {
    const [ours, theirs, now] = [said.conditions[type], base.conditions[type], found.conditions[type]];
    const same = ours?.status === 'False' ? ours : theirs?.status === 'False' && theirs.reason === verdict.reason ? theirs : now;
    const lastTransitionTime = same?.lastTransitionTime;
    const observedGeneration = now?.observedGeneration;
    conditions[type] = {
      type,
      ...verdict,
      ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }),
      ...(observedGeneration === undefined ? {} : { observedGeneration }),
    };
  }
  return conditions;
}

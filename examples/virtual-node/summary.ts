import type { Verb } from './counting-pod-client.ts';
import { type Paint, type Picture, textRows } from './view.ts';

/** How a run has ended. */
export interface Judgement {
  readonly podsCompared: number;
  /** Sentences; each one makes the run a failure. */
  readonly differences: readonly string[];
  /** Other problems, one sentence each; each one makes the run a failure too. */
  readonly problems: readonly string[];
  /** Lines of the summary that are no failure, each after its label. */
  readonly facts: readonly (readonly [label: string, text: string])[];
  /** What is true when all is well. */
  readonly claim: string;
}

const shownAtMost = 20;
/** Refusals that are normal in a pod's life: the manager handles them. */
const meanings: Readonly<Record<string, string>> = { 404: 'the pod was gone', 409: 'another client wrote first' };

/** The summary of a run as lines, and whether the run succeeded. */
export function summarize(
  { rows }: Picture,
  judgement: Judgement,
  paint: Paint,
): { readonly lines: string[]; readonly ok: boolean } {
  const { podsCompared, differences, problems, facts, claim } = judgement;
  const ok = differences.length === 0 && problems.length === 0;
  const row = (label: string, text: string): string => `${paint('dim', label.padEnd(13))}${text}`;
  const lines = [
    paint('bold', 'Summary'),
    ...textRows(rows).map(([label, text]) => row(label, text)),
    ...facts.map(([label, text]) => row(label, text)),
    row('compared', `${podsCompared} pods on the server with the managers`),
    row('differences', paint(differences.length === 0 ? 'green' : 'red', String(differences.length))),
    ...[...differences.slice(0, shownAtMost), ...problems].map((line) => paint('red', `  ${line}`)),
    ...(differences.length > shownAtMost ? [paint('red', `  and ${differences.length - shownAtMost} more`)] : []),
    ok ? paint('green', `The server says what the managers say${claim}.`) : paint('red', 'Not all is well.'),
  ];
  return { lines, ok };
}

/** The answers other than success, by HTTP status or reason; undefined where there were none. */
export function refusalsText(refusals: ReadonlyMap<number | string, number>): string | undefined {
  const answers = [...refusals].map(
    ([what, count]) => `${count} × ${what}${meanings[what] === undefined ? '' : ` (${meanings[what]})`}`,
  );
  return answers.length === 0 ? undefined : answers.join(', ');
}

/** One sentence for each verb where the server counted another number than was sent. */
export function countMismatches(sent: Readonly<Record<Verb, number>>, seen: (verb: Verb) => number): string[] {
  const verbs = ['get', 'patch', 'delete'] as const;
  return verbs.flatMap((verb) =>
    seen(verb) === sent[verb] ? [] : `${sent[verb]} ${verb} requests were sent, the server counted ${seen(verb)}`,
  );
}

import type { Verb } from './counting-pod-client.ts';
import { ms, type Paint, requestsAChange } from './render.ts';
import { type Snapshot, totalRequests } from './snapshot.ts';

export interface SummaryFacts {
  readonly snapshot: Snapshot;
  readonly podsCompared: number;
  /** Sentences; each one makes the run a failure. */
  readonly differences: readonly string[];
  /** Other problems, one sentence each; each one makes the run a failure too. */
  readonly problems: readonly string[];
  /** Sentences that are shown but are no failure. */
  readonly notes: readonly string[];
  readonly forced: number;
  readonly foreignWrites: number;
  readonly foreignChecked: number;
  /** Answers other than success, by HTTP status or reason. */
  readonly refusals: ReadonlyMap<number | string, number>;
  /** Requests sent, and requests counted by the server; undefined when the server cannot tell. */
  readonly serverCounts: Readonly<Record<Verb, { readonly sent: number; readonly seen: number }>> | undefined;
}

const shownAtMost = 20;
/** Refusals that are normal in a pod's life: the manager handles them. */
const meanings: Readonly<Record<string, string>> = { 404: 'the pod was gone', 409: 'another client wrote first' };

/** The summary of a run as lines, and whether the run succeeded. */
export function summarize(facts: SummaryFacts, paint: Paint): { readonly lines: string[]; readonly ok: boolean } {
  const { differences, problems, refusals, serverCounts, snapshot } = facts;
  const { requests } = snapshot;
  const mismatches = countMismatches(serverCounts);
  const ok = differences.length === 0 && problems.length === 0 && mismatches.length === 0;
  const answers = [...refusals].map(
    ([what, count]) => `${count} × ${what}${meanings[what] === undefined ? '' : ` (${meanings[what]})`}`,
  );
  const row = (label: string, text: string): string => `${paint('dim', label.padEnd(13))}${text}`;
  const lines = [
    paint('bold', 'Summary'),
    row(
      'pods',
      `${snapshot.created} lived (${snapshot.recreated} under the name of an earlier one), ${snapshot.deleted} are gone (${facts.forced} by force)`,
    ),
    row('lives', `${snapshot.crashes} crashes, ${snapshot.readinessFlips} readiness results`),
    row('statuses', `${snapshot.told} told, ${snapshot.versions} changes`),
    row('requests', `${totalRequests(snapshot)} = patch ${requests.patch} + get ${requests.get} + delete ${requests.delete}`),
    row('', `${requestsAChange(snapshot)} a change${answers.length === 0 ? '' : `; refused ${answers.join(', ')}`}`),
    ...(serverCounts === undefined ? [] : [row('', mismatches[0] ?? 'the server counted the same')]),
    row('delay', `p50 ${ms(snapshot.p50Ms)}, p99 ${ms(snapshot.p99Ms)}, from set to synced`),
    row('others', `${facts.foreignWrites} foreign conditions written, ${facts.foreignChecked} checked on the pods that are left`),
    row('errors', count(snapshot.syncErrors, paint)),
    ...facts.notes.map((note) => row('', note)),
    row('compared', `${facts.podsCompared} pods on the server with the manager`),
    row('differences', count(differences.length, paint)),
    ...[...differences.slice(0, shownAtMost), ...problems].map((line) => paint('red', `  ${line}`)),
    ...(differences.length > shownAtMost ? [paint('red', `  and ${differences.length - shownAtMost} more`)] : []),
    ok ? paint('green', 'The server says what the manager says.') : paint('red', 'Not all is well.'),
  ];
  return { lines, ok };
}

/** One sentence for each verb where the server counted another number than was sent. */
function countMismatches(counts: SummaryFacts['serverCounts']): string[] {
  return Object.entries(counts ?? {})
    .filter(([, { sent, seen }]) => sent !== seen)
    .map(([verb, { sent, seen }]) => `${sent} ${verb} requests were sent, the server counted ${seen}`);
}

function count(value: number, paint: Paint): string {
  return paint(value === 0 ? 'green' : 'red', String(value));
}

import type { WirePod } from 'pod-status-manager';
import type { AdminClient } from './admin-client.ts';
import type { Verb } from './counting-pod-client.ts';
import type { DemoRun } from './demo-run.ts';
import { findDifferences } from './differences.ts';
import type { DemoServer } from './server.ts';
import type { SummaryFacts } from './summary.ts';

export interface VerdictContext {
  readonly admin: AdminClient;
  readonly server: DemoServer;
  readonly namespace: string;
  readonly labelSelector: string;
}

/** Reads every pod back from the server and compares. `problems` are those already known. */
export async function judge(run: DemoRun, context: VerdictContext, problems: readonly string[]): Promise<SummaryFacts> {
  const { admin, server } = context;
  const { foreign, meter, podClient, workload } = run;
  // taken before the list below adds to the counts
  const snapshot = run.snapshot();
  const serverCounts = server.countRequests && countedBySides(podClient.requests, admin.requests, server.countRequests);
  const compared = await compare(run, context);
  const checked = compared.serverPods.filter(({ metadata }) => foreign.written.has(metadata?.uid ?? ''));
  const found = [...problems, ...compared.problems];
  if (workload.created === 0) found.push('no pod was created');
  if (meter.illegalTransitions > 0) found.push(`${meter.illegalTransitions} statuses of the agent were refused as illegal`);
  found.push(...problemsOfNode(run));
  return {
    snapshot,
    podsCompared: compared.serverPods.length,
    differences: compared.differences,
    problems: found,
    notes: notesOn(run),
    forced: workload.forced,
    foreignWrites: foreign.writes,
    foreignChecked: checked.length,
    refusals: podClient.refusals,
    serverCounts,
  };
}

interface Compared {
  readonly serverPods: readonly WirePod[];
  readonly differences: readonly string[];
  readonly problems: readonly string[];
}

async function compare(run: DemoRun, { admin, namespace, labelSelector }: VerdictContext): Promise<Compared> {
  try {
    const serverPods = await admin.listPods(namespace, labelSelector);
    const differences = findDifferences({
      serverPods,
      agentUIDs: new Set(run.node.podManager.getPods().map(({ metadata }) => metadata?.uid ?? '')),
      getPodStatus: (podUID) => run.node.statusManager.getPodStatus(podUID),
      alive: run.workload.alive,
      foreignConditions: run.foreign.written,
    });
    return { serverPods, differences, problems: [] };
  } catch (error) {
    return { serverPods: [], differences: [], problems: [`the pods could not be compared: ${describeError(error)}`] };
  }
}

/** A node that is not kept up loses its pods sooner or later. */
function problemsOfNode({ node: { nodeObject } }: DemoRun): string[] {
  const { leaseFailure, nodeFailure, rival } = nodeObject.explain();
  const found: string[] = [];
  if (nodeFailure !== undefined) found.push(`the node could not be kept in step: ${describeError(nodeFailure.error)}`);
  if (leaseFailure !== undefined) found.push(`the Lease of the node could not be renewed: ${describeError(leaseFailure.error)}`);
  if (rival !== undefined) found.push('another agent has used the name of the node');
  return found;
}

/** Sentences about errors that the run has recovered from. */
function notesOn({ meter: { lastError }, workload }: DemoRun): string[] {
  const notes: string[] = [];
  if (lastError !== undefined) notes.push(`the last error (${lastError.errorClass}): ${describeError(lastError.error)}`);
  if (workload.failures > 0) {
    notes.push(`${workload.failures} requests of the workload failed and were made again, the last one: ${workload.lastFailure}`);
  }
  return notes;
}

function countedBySides(
  ours: Readonly<Record<Verb, number>>,
  others: Readonly<Record<Verb, number>>,
  seen: (verb: Verb) => number,
): SummaryFacts['serverCounts'] {
  const both = (verb: Verb) => ({ sent: ours[verb] + others[verb], seen: seen(verb) });
  return { get: both('get'), patch: both('patch'), delete: both('delete') };
}

/** One line of at most 400 characters, also for errors that have only a code. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  const [line = code] = (error.message || code).split('\n');
  return line.length > 400 ? `${line.slice(0, 400)} ...` : line;
}

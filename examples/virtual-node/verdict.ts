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

/** Reads every pod back from the server and compares. `problems` are what is known to have gone wrong already. */
export async function judge(run: DemoRun, context: VerdictContext, problems: string[]): Promise<SummaryFacts> {
  const { admin, server, namespace, labelSelector } = context;
  const { foreign, manager, meter, podClient, podManager, workload } = run;
  // before the list below adds to them
  const snapshot = run.snapshot();
  const serverCounts = server.countRequests && countedBySides(podClient.requests, admin.requests, server.countRequests);
  const serverPods = await admin.listPods(namespace, labelSelector);
  const differences = findDifferences({
    serverPods,
    agentUIDs: new Set(podManager.getPods().map(({ metadata }) => metadata?.uid ?? '')),
    getPodStatus: (podUID) => manager.getPodStatus(podUID),
    foreignConditions: foreign.written,
  });
  if (workload.failures > 0)
    problems.push(`${workload.failures} requests of the workload failed, the last one: ${workload.lastFailure}`);
  if (workload.created === 0) problems.push('no pod was created');
  if (meter.illegalTransitions > 0) problems.push(`${meter.illegalTransitions} statuses of the agent were refused as illegal`);
  const { lastError } = meter;
  if (lastError !== undefined) problems.push(`the last error (${lastError.errorClass}): ${describeError(lastError.error)}`);
  return {
    snapshot,
    podsCompared: serverPods.length,
    differences,
    problems,
    forced: workload.forced,
    foreignWrites: foreign.writes,
    foreignChecked: serverPods.filter(({ metadata }) => foreign.written.has(metadata?.uid ?? '')).length,
    refusals: podClient.refusals,
    serverCounts,
  };
}

function countedBySides(
  ours: Readonly<Record<Verb, number>>,
  others: Readonly<Record<Verb, number>>,
  seen: (verb: Verb) => number,
): SummaryFacts['serverCounts'] {
  const both = (verb: Verb) => ({ sent: ours[verb] + others[verb], seen: seen(verb) });
  return { get: both('get'), patch: both('patch'), delete: both('delete') };
}

/** One line, also for errors that carry their reason in a code alone. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return (error.message || code).split('\n')[0] ?? code;
}

import type { WirePod } from 'pod-status-manager';
import { describeError } from './journal.ts';
import { pause } from './pause.ts';
import type { DemoRun, RunContext } from './run.ts';
import { countMismatches, type Judgement, refusalsText } from './summary.ts';

/** A node that was broken may wait ten seconds before it tries again, and then once more. */
const longestMs = 30_000;
const quietMs = 300;
/** A run that stands still has no reason to differ for longer. */
const frozenMs = 1000;

/** The server's pods beside the managers' statuses. */
export interface Compared {
  readonly pods: readonly WirePod[];
  readonly differences: readonly string[];
  /** Why the pods could not be compared, or what is wrong beside the statuses. */
  readonly problems: readonly string[];
}

/** Waits until every status is on the server and nothing is wrong, at most for a while. Returns what was found last. */
export async function settled(run: DemoRun, context: RunContext, signal: AbortSignal): Promise<Compared> {
  const { statuses, options } = context;
  run.freeze?.();
  const deadline = performance.now() + longestMs;
  if (run.freeze !== undefined) {
    while (performance.now() < deadline && (statuses.podsDeleting > 0 || statuses.meter.quietMs < quietMs)) {
      if (!(await pause(50, signal))) break;
    }
  }
  let unwritten = await unwrittenOf(context);
  while (unwritten.length > 0 && performance.now() < deadline && !signal.aborted) unwritten = await unwrittenOf(context);
  const patient = run.freeze === undefined || options.breaks ? deadline : performance.now() + frozenMs;
  for (;;) {
    const found = await compare(run, context);
    const isWell = found.differences.length === 0 && found.problems.length === 0;
    if (isWell || performance.now() > patient || !(await pause(100, signal))) {
      return { ...found, problems: [...unwritten, ...found.problems] };
    }
  }
}

async function unwrittenOf({ statuses }: RunContext): Promise<string[]> {
  try {
    await statuses.flush();
    return [];
  } catch (error) {
    return [describeError(error)];
  }
}

async function compare(run: DemoRun, { world, statuses }: RunContext): Promise<Compared> {
  try {
    const pods = await world.admin.listPods(world.namespace, world.labelSelector);
    const differences = statuses.differences(pods, run.owners.alive, run.foreignConditions ?? new Map());
    return { pods, differences, problems: [...run.wrong(), ...statuses.problems()] };
  } catch (error) {
    return { pods: [], differences: [], problems: [`the pods could not be compared: ${describeError(error)}`] };
  }
}

/** Deletes every pod that has a node until none is left: those that wait for room get it. Returns what is left, one sentence each. */
export async function emptied(run: DemoRun, { world, statuses }: RunContext, signal: AbortSignal): Promise<string[]> {
  if (run.left === undefined) return [];
  const deadline = performance.now() + longestMs;
  for (;;) {
    const pods = await world.admin.listPods(world.namespace, world.labelSelector);
    for (const { metadata, spec } of pods) {
      if (spec?.nodeName === undefined || metadata?.deletionTimestamp !== undefined) continue;
      await run.owners.delete({ name: metadata?.name ?? '', uid: metadata?.uid ?? '' });
    }
    const left = [
      ...pods.map(({ metadata }) => `${metadata?.name} is left on the server`),
      ...statuses.pods().map(({ metadata }) => `${metadata?.name} is left on its node`),
      ...(await run.left()),
    ];
    if (left.length === 0 || performance.now() > deadline || !(await pause(50, signal))) return left;
  }
}

/** Puts together what was found; `problems` are those beside the comparison. */
export function judge(
  run: DemoRun,
  { world, statuses, options, journal }: RunContext,
  found: Compared,
  problems: readonly string[],
): Judgement {
  const { owners, foreignConditions } = run;
  const { meter, podClient } = statuses;
  const facts: [string, string][] = [];
  const refused = refusalsText(podClient.refusals);
  if (refused !== undefined) facts.push(['refused', refused]);
  // a request that breaks off may be counted by one side alone, and a scheduler writes statuses, too
  const { memory } = world;
  const isCounted = memory !== undefined && !options.breaks && options.kind !== 'schedule';
  const mismatches = isCounted ? countMismatches(podClient.requests, (verb) => memory.countRequests(verb)) : [];
  if (isCounted && mismatches.length === 0) facts.push(['', 'the server counted the same']);
  if (foreignConditions !== undefined) {
    const checked = found.pods.filter(({ metadata }) => foreignConditions.has(metadata?.uid ?? ''));
    facts.push(['others', `the conditions of another controller are as it wrote them on ${checked.length} pods`]);
  }
  const { lastError } = meter;
  if (lastError !== undefined) facts.push(['last error', `${lastError.errorClass}: ${describeError(lastError.error)}`]);
  if (owners.failures > 0)
    facts.push(['', `${owners.failures} requests of the owners failed, the last one: ${owners.lastFailure}`]);
  if (journal.warned > 0) facts.push(['warnings', `${journal.warned}, the last one: ${journal.warnings.at(-1)}`]);
  const none = owners.created === 0 ? ['no pod was created'] : [];
  return {
    podsCompared: found.pods.length,
    differences: found.differences,
    problems: [...problems, ...found.problems, ...mismatches, ...none],
    facts,
    claim: run.claim,
  };
}

import { type Eviction, type Evidence, type PodEvidence, type Run, runsOf, type Span } from './evidence.ts';

export const evictionRules = [
  'a pod is evicted for no reason',
  'an eviction is not told in full',
  'an evicted pod goes on',
  'a full disk evicts nobody',
] as const;
export type EvictionRule = (typeof evictionRules)[number];

export interface EvictionDamage {
  readonly rule: EvictionRule;
  readonly detail: string;
}

/** A look that saw a full disk measures all pods before it ends one, with a grace period of a second. */
const lateSeconds = 15;
/** An event may be lost with the agent that made it. */
const eventSeconds = 10;
/** The agent looks every ten seconds, so that it has to see a disk that is full for longer. */
const surelySeenSeconds = 18;
/** The apiserver may have been away when a pod was evicted. */
const toldSeconds = 30;
/** An end is told after so long at most, and so long a pod counts as one that runs. */
const endedSeconds = 3;
/** A pod that is refused was made so long before, at most. */
const startSeconds = 10;

const lowOnDisk = 'The node was low on resource: ephemeral-storage.';
const refusal = 'Pod was rejected: ';
const refusedWords = 'The node had condition: [DiskPressure].';

/** The pod was never taken by the node. */
export function isRefused({ eviction }: PodEvidence): boolean {
  return eviction?.message.startsWith(refusal) === true;
}

/** A disk that was full explains that this run was ended: its pod says that it was evicted, or the agent was killed before it could. */
export function isEndOfEviction({ eviction }: PodEvidence, run: Run, { fullDisks, agentKills }: Evidence): boolean {
  if (!fullDisks.some((full) => isWithin(run.to, evictingOf(full)))) return false;
  if (eviction !== undefined) return true;
  return agentKills.some((at) => isWithin(at, { from: run.to - 1, to: run.to + eventSeconds }));
}

/** What is wrong about a pod that says it was evicted. */
export function evictionDamage(pod: PodEvidence, evidence: Evidence): EvictionDamage[] {
  const { eviction } = pod;
  if (eviction === undefined) return [];
  const runs = pod.containers.flatMap(({ name }) => runsOf(pod.witness[name] ?? []));
  const reason = isRefused(pod) ? whyNotRefused(pod, runs, evidence) : whyNotEvicted(pod, runs, evidence);
  const later = runs.filter(({ from }) => from > eviction.at);
  const goesOn = later.length > 0 || pod.runningAtEnd.length > 0;
  return [
    ...(reason === undefined ? [] : [{ rule: 'a pod is evicted for no reason', detail: reason } as const]),
    ...untold(eviction, isRefused(pod), evidence).map((detail) => ({ rule: 'an eviction is not told in full', detail }) as const),
    ...(goesOn
      ? [{ rule: 'an evicted pod goes on', detail: `told at ${eviction.at}, ${later.length} runs after that` } as const]
      : []),
  ];
}

/** Disks that were full for so long that a pod had to go, and none did. */
export function toleratedFullDisks({ fullDisks, pods }: Evidence): EvictionDamage[] {
  return fullDisks
    .filter((full) => full.to - full.from >= surelySeenSeconds)
    .filter((full) => pods.some((pod) => ranThrough(pod, full)))
    .filter((full) => !pods.some(({ eviction }) => eviction !== undefined && isWithin(eviction.at, evictingOf(full))))
    .map(({ from, to }) => ({ rule: 'a full disk evicts nobody', detail: `full from ${from} to ${to}` }));
}

function whyNotEvicted(pod: PodEvidence, runs: readonly Run[], { fullDisks }: Evidence): string | undefined {
  const { at = 0, message = '' } = pod.eviction ?? {};
  if (!message.startsWith(lowOnDisk)) return `not by the disk: ${message}`;
  const full = fullDisks.findLast(({ from }) => from <= at);
  const latest = full && evictingOf(full).to;
  if (full === undefined || latest === undefined || at > latest + toldSeconds) return `told at ${at}, and the disk was not full`;
  const last = Math.max(...runs.map(({ to }) => to));
  if (last > latest) return `it ran until ${last}, and the disk was full until ${full.to}`;
  const wasOver = !pod.restarts && runs.length > 0 && last < full.from - endedSeconds;
  return wasOver ? `it was over at ${last}, and the disk was full from ${full.from}` : undefined;
}

function whyNotRefused(pod: PodEvidence, runs: readonly Run[], { fullDisks, pressureSeconds }: Evidence): string | undefined {
  const { createdAt, eviction } = pod;
  if (eviction?.message.startsWith(`${refusal}${refusedWords}`) !== true) return `not by the disk: ${eviction?.message}`;
  if (runs.length > 0) return 'it ran, and is told to have been refused';
  const isShort = fullDisks.some(({ from, to }) =>
    isWithin(createdAt, { from: from - startSeconds, to: to + lateSeconds + pressureSeconds }),
  );
  return isShort ? undefined : `made at ${createdAt}, and the node did not run short`;
}

function untold({ at, phase, message, isDisruption, events }: Eviction, refused: boolean, evidence: Evidence): string[] {
  const words = refused ? message.slice(refusal.length) : message;
  const mayLackEvent = evidence.agentKills.some((kill) => isWithin(kill, { from: at - lateSeconds, to: at + eventSeconds }));
  return [
    ...(phase === 'Failed' ? [] : [`the phase is ${phase}`]),
    ...(refused || isDisruption ? [] : ['the condition DisruptionTarget lacks']),
    ...(events.includes(words) || mayLackEvent ? [] : [`no event says "${words}"`]),
  ];
}

function evictingOf({ from, to }: Span): Span {
  return { from, to: to + lateSeconds };
}

function isWithin(at: number, { from, to }: Span): boolean {
  return at >= from && at <= to;
}

/** The pod was there before the disk was full, and a container of it ran until it was not any more. */
function ranThrough({ deletedAt = Number.POSITIVE_INFINITY, containers, witness }: PodEvidence, full: Span): boolean {
  const runs = containers.flatMap(({ name }) => runsOf(witness[name] ?? []));
  return deletedAt > full.to && runs.some(({ from, to }) => from <= full.from && to >= full.to);
}

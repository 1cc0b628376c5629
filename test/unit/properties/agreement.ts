import type { V1PodStatus } from '@kubernetes/client-node';
import type { WirePodCondition, WirePodStatus } from '../../../src/api/json/types.ts';
import { settle } from '../../../src/testing/fakes/fake-clock.ts';
import { slotNames, type World } from './properties-world.ts';

const owned = ['PodScheduled', 'Ready', 'Initialized', 'ContainersReady'];
/** The server fills these in when the agent does not set them. */
const fillIns = ['qosClass', 'hostIPs', 'podIPs', 'observedGeneration', 'hostIP'];

/** Lets every waiting request finish and the watch catch up, and then one batch run. */
export async function quietBatch(world: World): Promise<void> {
  world.client.calm();
  await settle();
  await world.clock.advance(130_000);
  for (const name of slotNames) world.deliver(name);
  await world.clock.advance(10_000);
}

/** The differences between server and cache, for pods that both of them have. */
export function disagreements(world: World): string[] {
  return slotNames.flatMap((name) => {
    const onServer = world.onServer(name);
    const podUID = world.podManager.translatePodUID(onServer?.metadata?.uid ?? '');
    const cached = world.manager.getPodStatus(podUID);
    if (onServer === undefined || cached === undefined) return [];
    // this agent may set an ended container running again, which the server refuses under restart policy Never
    if (name.startsWith('never') && world.manager.explain(podUID).phase === 'quarantined') return [];
    const { phase } = world.manager.explain(podUID);
    const held = phase === 'terminal-phase-held-back' && world.answers(name).running;
    const [ours, theirs] = [
      comparable(held ? wire(cached) : endedIsNotReady(wire(cached)), held),
      comparable(onServer.status ?? {}, held),
    ];
    for (const key of fillIns) if (ours[key] === undefined) delete theirs[key];
    const [a, b] = [sorted(ours), sorted(theirs)];
    return a === b ? [] : [`${name} (${phase}): the cache has ${a} and the server ${b}`];
  });
}

const wire = (view: V1PodStatus): WirePodStatus =>
  JSON.parse(JSON.stringify(view).replaceAll(/(\d\d)\.000Z"/g, '$1Z"')) as WirePodStatus;

function isEndedAndReady({ phase, conditions = [] }: WirePodStatus): boolean {
  const claimsReady = conditions.some(({ type, status }) => /Ready$/.test(type) && status === 'True');
  return claimsReady && (phase === 'Failed' || phase === 'Succeeded');
}

/** On the server a pod that has ended is never Ready, whatever the agent sets. */
function endedIsNotReady(status: WirePodStatus): WirePodStatus {
  if (!isEndedAndReady(status)) return status;
  const { phase, conditions = [] } = status;
  const reason = phase === 'Failed' ? 'PodFailed' : 'PodCompleted';
  const others = conditions.filter(({ type }) => !/Ready$/.test(type));
  return {
    ...status,
    conditions: [...others, ...['Ready', 'ContainersReady'].map((type) => ({ type, status: 'False', reason }))],
  };
}

/** With a held-back phase, its reason and message are held back too. */
function comparable({ conditions = [], ...status }: WirePodStatus, held: boolean): Record<string, unknown> {
  const of = (type: string): WirePodCondition | undefined => conditions.find((condition) => condition.type === type);
  const says = owned.map((type) => [type, of(type)?.status, of(type)?.reason, of(type)?.message]);
  const { phase, reason, message, ...rest } = status;
  return held ? { ...rest, says } : { ...rest, phase, reason, message, says };
}

/** JSON with sorted members, without the nulls that a server writes. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : (inner ?? undefined),
  );
}

import type { V1PodStatus } from '@kubernetes/client-node';
import { settle } from '../../../src/testing/fakes/fake-clock.ts';
import type { WirePodCondition, WirePodStatus } from '../../../src/wire/types.ts';
import { slotNames, type World } from './world.ts';

const owned = ['PodScheduled', 'Ready', 'Initialized', 'ContainersReady'];
/** Filled in by the server when the agent says nothing of them. */
const fillIns = ['qosClass', 'hostIPs', 'podIPs', 'observedGeneration', 'hostIP'];

/** Everything that waits gets its turn, the watch catches up, and then comes one batch. */
export async function quietBatch(world: World): Promise<void> {
  world.client.calm();
  await settle();
  await world.clock.advance(130_000);
  for (const name of slotNames) world.deliver(name);
  await world.clock.advance(10_000);
}

/** Where the server says something else than the cache, of a pod that both of them have. */
export function disagreements(world: World): string[] {
  return slotNames.flatMap((name) => {
    const onServer = world.onServer(name);
    const podUID = world.podManager.translatePodUID(onServer?.metadata?.uid ?? '');
    const cached = world.manager.getPodStatus(podUID);
    if (onServer === undefined || cached === undefined) return [];
    // a forgetful agent may bring a container back to life, which the server refuses where nothing is restarted
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

/** On the server a pod that has ended is never Ready, whatever the agent says. */
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

/** A held-back phase takes its reason and message with it. */
function comparable({ conditions = [], ...status }: WirePodStatus, held: boolean): Record<string, unknown> {
  const of = (type: string): WirePodCondition | undefined => conditions.find((condition) => condition.type === type);
  const says = owned.map((type) => [type, of(type)?.status, of(type)?.reason, of(type)?.message]);
  const { phase, reason, message, ...rest } = status;
  return held ? { ...rest, says } : { ...rest, phase, reason, message, says };
}

/** Members in order, without the nulls a server writes. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : (inner ?? undefined),
  );
}

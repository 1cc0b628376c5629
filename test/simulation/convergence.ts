import { isDeepStrictEqual } from 'node:util';
import { isMirrorPod, isStaticPod, type WirePod, type WirePodStatus } from '../../src/index.ts';
import { isTerminal, ownTypes } from './checker.ts';
import type { ManagerProcess } from './manager-process.ts';
import type { World } from './world.ts';

const rule = 'everything is brought up to date';

/** Long after the last fault: every pod on the server says what the cache says, and what is over is deleted. */
export function checkConvergence(world: World): void {
  const { process, log, server } = world;
  if (!process?.isUp) {
    log.violate(rule, 'no process runs');
    return;
  }
  const onServer = server.store.list();
  const seen = new Set(
    [...process.podManager.getPods()].filter((pod) => !isStaticPod(pod as WirePod)).map(({ metadata }) => metadata?.uid),
  );
  for (const pod of onServer) {
    const uid = pod.metadata?.uid ?? '';
    const isSeen = isMirrorPod(pod) ? process.podManager.translatePodUID(uid) !== uid : seen.delete(uid);
    if (!isSeen && world.watchDies) continue;
    if (!isSeen) log.violate('the simulated watch works', `pod ${uid} was never seen`);
    checkPod(world, process, pod);
  }
  for (const uid of world.watchDies ? [] : seen) log.violate('the simulated watch works', `pod ${uid} is gone and still in view`);
}

function checkPod({ truth, log }: World, process: ManagerProcess, pod: WirePod): void {
  const { name, uid = '', deletionTimestamp, finalizers = [] } = pod.metadata ?? {};
  const podUID = process.podManager.translatePodUID(uid);
  const life = truth.life(podUID);
  const view = process.manager.getPodStatus(podUID);
  if (life === undefined || view === undefined) {
    log.violate(rule, `${name} (${uid}) was never reported`);
    return;
  }
  const explained = (): string => JSON.stringify(process.manager.explain(podUID));
  const cached: WirePodStatus = JSON.parse(JSON.stringify(view).replaceAll(/\.000Z"/g, 'Z"'));
  for (const what of differences(cached, pod.status ?? {}, life.couldRun)) {
    log.violate(rule, `${name} (${uid}): ${what}; ${explained()}`);
  }
  const isFinished = life.finished && life.reclaimed && !life.couldRun && !life.isStatic;
  if (deletionTimestamp !== undefined && finalizers.length === 0 && isFinished) {
    log.violate('what is over is deleted', `${name} (${uid}): ${explained()}`);
  }
}

function differences(cached: WirePodStatus, server: WirePodStatus, couldRun: boolean): string[] {
  const found: string[] = [];
  const compare = (what: string, a: unknown, b: unknown): void => {
    if (!isDeepStrictEqual(a, b)) found.push(`${what}: cached ${JSON.stringify(a)}, on the server ${JSON.stringify(b)}`);
  };
  const heldBack = isTerminal(cached) && !isTerminal(server) && couldRun;
  if (!heldBack) {
    compare('phase', cached.phase, server.phase);
    compare('message', cached.message, server.message);
    compare('reason', cached.reason, server.reason);
  }
  for (const field of ['podIP', 'podIPs', 'hostIP', 'containerStatuses', 'startTime', 'observedGeneration'] as const) {
    compare(field, cached[field], server[field]);
  }
  const types = new Set([...(cached.conditions ?? []), ...(server.conditions ?? [])].map(({ type }) => type));
  for (const type of types) {
    const [a, b] = [cached, server].map(({ conditions }) => conditions?.find((condition) => condition.type === type));
    if (!ownTypes.has(type)) continue;
    compare(type, [a?.status, a?.reason, a?.message], [b?.status, b?.reason, b?.message]);
  }
  return found;
}

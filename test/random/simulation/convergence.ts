import { isMirrorPod, isStaticPod, type WirePod } from '../../../src/index.ts';
import { ownerOf } from '../chaos/check/checker.ts';
import { outOfStep } from '../chaos/check/standing.ts';
import type { ManagerProcess } from './manager-process.ts';
import type { World } from './simulation-world.ts';

const rule = 'everything is brought up to date';

/** Long after the last fault: each pod on the server is, whole, as the agent said last, and pods that are over are deleted. */
export function checkConvergence(world: World): void {
  const { process, log, server } = world;
  if (!process?.isUp) {
    log.violate(rule, 'no process runs');
    return;
  }
  const apiPods = process.podManager.getPods().filter((pod) => !isStaticPod(pod as WirePod));
  const seen = new Set(apiPods.map(({ metadata }) => metadata?.uid));
  for (const pod of server.store.list()) {
    const uid = pod.metadata?.uid ?? '';
    const isSeen = isMirrorPod(pod) ? process.podManager.translatePodUID(uid) !== uid : seen.delete(uid);
    if (!isSeen && world.watchDies) continue;
    if (!isSeen) log.violate('the simulated watch works', `pod ${uid} was never seen`);
    checkPod(world, process, pod);
  }
  checkVanished(world, process);
  for (const uid of world.watchDies ? [] : seen) log.violate('the simulated watch works', `pod ${uid} is gone and still in view`);
}

/** A status whose pod is no longer in view has gone; while something of the pod runs, `explain` calls it gone. */
function checkVanished({ ledger, log }: World, { voice, manager, podManager }: ManagerProcess): void {
  for (const uid of voice.uids) {
    const status = manager.getPodStatus(uid);
    if (podManager.getPodByUID(uid) !== undefined || status === undefined) continue;
    const { containerStatuses = [], initContainerStatuses = [] } = status;
    const saysRunning = [...containerStatuses, ...initContainerStatuses].some(({ state }) => state?.running !== undefined);
    const isLeft = saysRunning || ledger.life(uid)?.couldRun === true;
    const { phase, reason } = manager.explain(uid);
    if (!isLeft || phase !== 'gone')
      log.violate('the status of a pod that is gone goes by itself', `${uid} is ${phase}: ${reason}`);
  }
}

function checkPod({ ledger, log }: World, { manager, podManager }: ManagerProcess, pod: WirePod): void {
  const { name, uid = '', deletionTimestamp, finalizers = [] } = pod.metadata ?? {};
  const explained = (): string => JSON.stringify(manager.explain(podManager.translatePodUID(uid)));
  const [wrong] = outOfStep(pod, ledger);
  if (wrong !== undefined) log.violate(rule, `${wrong}; ${explained()}`);
  const life = ledger.lifeOf(ownerOf(pod));
  const isFinished = life?.finished === true && life.reclaimed && !life.couldRun && !life.isStatic;
  if (deletionTimestamp !== undefined && finalizers.length === 0 && isFinished) {
    log.violate('what is over is deleted', `${name} (${uid}): ${explained()}`);
  }
}

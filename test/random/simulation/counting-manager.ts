import type { Pod, StatusManager } from '../../../src/index.ts';
import type { Manager } from '../chaos/said/voice.ts';

/**
 * Tells of each status that the manager has taken. A forced one is sent although it may say the same as before: each status of
 * a pod that is being deleted, and each `terminatePod`.
 */
export function counting(manager: StatusManager, onTaken: (podUID: string, isForced: boolean) => void): Manager {
  const taken = (uid: string | undefined, isTaken: boolean, isForced = false): boolean => {
    if (isTaken) onTaken(uid ?? '', isForced);
    return isTaken;
  };
  const isGoing = ({ metadata }: Pod): boolean => Boolean(metadata?.deletionTimestamp);
  return {
    setPodStatus: (pod, status) => taken(pod.metadata?.uid, manager.setPodStatus(pod, status), isGoing(pod)),
    setContainerReadiness: (uid, ...rest) => taken(uid, manager.setContainerReadiness(uid, ...rest)),
    setContainerStartup: (uid, ...rest) => taken(uid, manager.setContainerStartup(uid, ...rest)),
    terminatePod: (pod) => taken(pod.metadata?.uid, manager.terminatePod(pod), true),
    getPodStatus: (uid) => manager.getPodStatus(uid),
  };
}

import { nextTurn } from '../random/simulation/simulated-clock.ts';

/** No time passes while files are read or written: a disk is as fast as memory. The order of such accesses is the machine's. */
export async function settleWithFiles(): Promise<void> {
  do await nextTurn();
  while (process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq') || name === 'CloseReq'));
}

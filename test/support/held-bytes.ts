import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * How many bytes of the heap are held after `work`, and were not before. `work` is called once before anything is measured, so
 * that what it compiles does not count.
 */
export function heldBytes(work: () => void): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const held = (): number => {
    for (let round = 0; round < 3; round += 1) collect();
    return process.memoryUsage().heapUsed;
  };
  work();
  const before = held();
  work();
  return held() - before;
}

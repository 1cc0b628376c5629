import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ControlPlane } from '../../test/support/control-plane/control-plane.ts';

export const waysOfWatching = { alone: 'two watches a node', shared: 'SharedWatches' } as const;
export type WayOfWatching = keyof typeof waysOfWatching;

/** Of one process with many nodes that have no pods. */
export interface NodesAtRest {
  readonly startSeconds: number;
  /** After a collection. */
  readonly heapKiBPerNode: number;
  /** Of the whole process. */
  readonly memoryMiB: number;
  readonly cpuSecondsPerMinute: number;
}

const restSeconds = 30;

/** One process with so many nodes, in each way of watching. */
export async function compareNodesAtRest(controlPlane: ControlPlane, count: number): Promise<Record<WayOfWatching, NodesAtRest>> {
  const runs: Partial<Record<WayOfWatching, NodesAtRest>> = {};
  for (const way of Object.keys(waysOfWatching) as WayOfWatching[]) {
    const dir = await mkdtemp(join(tmpdir(), 'pod-status-manager-rest-'));
    const kubeconfig = join(dir, 'kubeconfig');
    await controlPlane.writeKubeconfig(kubeconfig);
    const path = fileURLToPath(new URL('./rest-worker.ts', import.meta.url));
    const args = [kubeconfig, way, String(count), String(restSeconds), way];
    const worker = fork(path, args, { silent: true, execArgv: ['--expose-gc'] });
    const ended = once(worker, 'exit');
    const [line] = await Promise.race([
      once(worker.stdout as NodeJS.ReadableStream, 'data'),
      ended.then(([code]) => Promise.reject(new Error(`the nodes ended with ${code}`))),
    ]);
    runs[way] = JSON.parse(String(line)) as NodesAtRest;
    worker.kill('SIGTERM');
    await ended;
    await rm(dir, { recursive: true, force: true });
  }
  return runs as Record<WayOfWatching, NodesAtRest>;
}

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { goTool } from '../../test/support/go-tools.ts';
import { medians } from '../parts/medians.ts';
import { runScript } from '../support/run-json.ts';
import type { WorkersFigures } from './workers-worker.ts';

export const podWorkers = { ours: 'PodConfig, PodWorkers', kubelet: 'kubelet (Go)' } as const;
export type PodWorkersName = keyof typeof podWorkers;

async function runGo(pods: number): Promise<WorkersFigures> {
  const dir = await mkdtemp(join(tmpdir(), 'pod-status-manager-bench-'));
  try {
    const output = join(dir, 'figures.json');
    const env = { ...process.env, BENCH_PODS: String(pods), BENCH_OUT: output };
    await promisify(execFile)(await goTool('agent'), ['-test.run', '^TestBench$'], { env, cwd: dir });
    return JSON.parse(await readFile(output, 'utf8')) as WorkersFigures;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Runs both in turn, `rounds` times. Medians over the rounds. */
export async function comparePodWorkers(pods: number, rounds: number): Promise<Record<PodWorkersName, WorkersFigures>> {
  const runs: Record<PodWorkersName, WorkersFigures[]> = { ours: [], kubelet: [] };
  const measure = { ours: () => runScript<WorkersFigures>('node/workers-worker.ts', [pods]), kubelet: () => runGo(pods) };
  const names = Object.keys(podWorkers) as PodWorkersName[];
  for (let round = 0; round < rounds; round += 1) {
    // each goes first in as many rounds as the other
    const turn = names.map((_, index) => names[(index + round) % names.length] as PodWorkersName);
    for (const name of turn) runs[name].push(await measure[name]());
  }
  return { ours: medians(runs.ours), kubelet: medians(runs.kubelet) };
}

import { goTool } from '../../test/support/go-tools.ts';
import type { Address } from '../cluster/contenders.ts';
import { runJson, runScript } from '../support/run-json.ts';
import { CountingRelay, type WireCount } from './counting-relay.ts';
import { medians } from './medians.ts';

/** The line that a worker prints. */
interface WorkerLine {
  /** From the first registration until every pod has read its secrets. */
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly requests: number;
  readonly watches: number;
  readonly maxRSS: number;
}

export type SecretsRun = WorkerLine & WireCount;

export const secretManagers = { ours: 'SecretManager (JSON)', kubelet: 'kubelet (Go, protobuf)' } as const;
export type SecretManagerName = keyof typeof secretManagers;

export interface SecretsWorkload {
  readonly pods: number;
  /** Of each pod; one of them is shared by all. */
  readonly secrets: number;
}

const namespace = 'bench-secrets';

async function run(name: SecretManagerName, { url, token }: Address, { pods, secrets }: SecretsWorkload): Promise<SecretsRun> {
  await using relay = await CountingRelay.to(url);
  process.env.BENCH_TOKEN = token;
  const shared = { server: relay.url, namespace, pods, secrets };
  const flags = (dashes: string, values: object): string[] =>
    Object.entries(values).flatMap(([key, value]) => [`${dashes}${key}`, `${value}`]);
  const line =
    name === 'ours'
      ? await runScript<WorkerLine>('parts/secrets-worker.ts', flags('--', shared))
      : await runJson<WorkerLine>(await goTool('peer'), flags('-', { mode: 'secrets', token, ...shared }));
  return { ...line, ...relay.count };
}

/** Runs the managers in turn, `rounds` times, on one real control plane. Medians over the rounds. */
export async function compareSecretManagers(
  address: Address,
  workload: SecretsWorkload,
  rounds: number,
): Promise<Record<SecretManagerName, SecretsRun>> {
  const { pods, secrets } = workload;
  const flags = ['-mode', 'make-secrets', '-server', address.url, '-token', address.token, '-namespace', namespace];
  await runJson(await goTool('peer'), [...flags, '-pods', String(pods), '-secrets', String(secrets)]);
  const runs: Record<SecretManagerName, SecretsRun[]> = { ours: [], kubelet: [] };
  const names = Object.keys(secretManagers) as SecretManagerName[];
  for (let round = 0; round < rounds; round += 1) {
    // each goes first in as many rounds as the others
    const turn = names.map((_, index) => names[(index + round) % names.length] as SecretManagerName);
    for (const name of turn) runs[name].push(await run(name, address, workload));
  }
  return Object.fromEntries(names.map((name) => [name, medians(runs[name])])) as Record<SecretManagerName, SecretsRun>;
}

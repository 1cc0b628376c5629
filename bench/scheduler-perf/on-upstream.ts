import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { goTool, serverBinaries } from '../../test/support/go-tools.ts';
import { usageOf } from '../support/usage.ts';
import type { PerfRun } from './run.ts';
import type { PerfWorkload } from './workload.ts';

const moduleDir = fileURLToPath(new URL('../../test/peers/node-kit/go/k8s', import.meta.url));

/** The folder `scheduler_perf` in Go's cache of modules. */
export async function upstreamFolder(): Promise<string> {
  const args = ['list', '-m', '-f', '{{.Dir}}', 'k8s.io/kubernetes'];
  const { stdout } = await promisify(execFile)('go', args, { cwd: moduleDir });
  return join(stdout.trim(), 'test/integration/scheduler_perf');
}

/** It has time for both steps that it waits for, and for the rest. */
const mostMinutes = 35;

/** Plays a workload with upstream's own harness, unchanged. Its etcd writes as that of `ControlPlane` does, without waiting for the disk. */
export async function runUpstream(workload: PerfWorkload): Promise<PerfRun> {
  const program = await goTool('scheduler-perf');
  const { etcd } = await serverBinaries();
  const dir = await mkdtemp(join(tmpdir(), 'pod-status-manager-scheduler-perf-'));
  try {
    await writeFile(join(dir, 'performance-config.yaml'), JSON.stringify([configOf(workload)]));
    await mkdir(join(dir, 'bin'));
    await writeFile(join(dir, 'bin/etcd'), `#!/bin/sh\nexec '${etcd}' --unsafe-no-fsync "$@"\n`);
    await chmod(join(dir, 'bin/etcd'), 0o755);
    const cpu = await runProgram(program, dir);
    return await runOf(join(dir, 'out'), workload.params.measurePods ?? 0, cpu);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Its harness runs what has the label, and fails where its bar for its own machines is missed. */
function configOf({ name, upstream }: PerfWorkload): object {
  const workloads = upstream.workloads.map(({ threshold, ...one }) => ({
    ...one,
    name,
    labels: ['performance'],
  }));
  return { ...upstream, workloads };
}

interface CpuSample {
  readonly atMs: number;
  readonly cpuSeconds: number;
}

async function runProgram(program: string, dir: string): Promise<readonly CpuSample[]> {
  await using log = await open(join(dir, 'log'), 'w');
  await mkdir(join(dir, 'artifacts'));
  const args = ['-test.run=^$', '-test.bench=BenchmarkPerfScheduling', '-test.benchtime=1x', `-test.timeout=${mostMinutes}m`];
  const child = spawn(program, [...args, `-data-items-dir=${join(dir, 'out')}`], {
    cwd: dir,
    env: {
      ...process.env,
      PATH: `${join(dir, 'bin')}:${dirname(process.execPath)}:${process.env.PATH}`,
      KUBE_CACHE_MUTATION_DETECTOR: 'false',
      ARTIFACTS: join(dir, 'artifacts'),
    },
    stdio: ['ignore', log.fd, log.fd],
  });
  const samples: CpuSample[] = [];
  const look = async (): Promise<void> => {
    const usage = await usageOf(child.pid ?? 0);
    samples.push({ atMs: Date.now(), cpuSeconds: usage.cpuSeconds });
  };
  const timer = setInterval(() => void look(), 500);
  const [code] = await once(child, 'exit').finally(() => clearInterval(timer));
  if (code !== 0)
    throw new Error(`scheduler_perf ended with ${code}: ${(await readFile(join(dir, 'log'), 'utf8')).slice(-3000)}`);
  return samples;
}

interface DataItem {
  readonly data: Readonly<Record<string, number>> | null;
  readonly labels: Readonly<Record<string, string>>;
}

/** The figures that the harness has written, and when it had them: it writes the second file as soon as the last pod has its node. */
async function runOf(out: string, pods: number, cpu: readonly CpuSample[]): Promise<PerfRun> {
  const names = await readdir(out);
  const file = names.find((name) => name.endsWith('.json'));
  if (file === undefined) throw new Error('scheduler_perf wrote no result');
  const { dataItems } = JSON.parse(await readFile(join(out, file), 'utf8')) as { dataItems: readonly DataItem[] };
  const progress = names.find((name) => name.endsWith('.dat'));
  const end = progress === undefined ? undefined : (await stat(join(out, progress))).mtimeMs;
  return upstreamRunOf(dataItems, pods, (seconds) => end && cpuBetween(cpu, end - seconds * 1000, end));
}

export function upstreamRunOf(
  items: readonly DataItem[],
  pods: number,
  cpuOfLast: (seconds: number) => number | undefined = () => undefined,
): PerfRun {
  const dataOf = (metric: string): DataItem['data'] | undefined => items.find(({ labels }) => labels.Metric === metric)?.data;
  const seconds = dataOf('SchedulingDuration')?.Duration;
  if (seconds === undefined) throw new Error('scheduler_perf wrote no SchedulingDuration');
  const found = dataOf('SchedulingThroughput');
  const { Average = 0, Perc50 = 0, Perc90 = 0, Perc99 = 0 } = found ?? {};
  const cpuSeconds = cpuOfLast(seconds);
  return {
    ...(found && { throughput: { average: Average, p50: Perc50, p90: Perc90, p99: Perc99 } }),
    podsASecond: pods / seconds,
    ...(cpuSeconds !== undefined && { cpuMsAPod: (cpuSeconds * 1000) / pods }),
  };
}

/** CPU seconds between two times, by the samples around each of them. */
export function cpuBetween(samples: readonly CpuSample[], fromMs: number, untilMs: number): number | undefined {
  const [from, until] = [cpuAt(samples, fromMs), cpuAt(samples, untilMs)];
  return from === undefined || until === undefined ? undefined : until - from;
}

function cpuAt(samples: readonly CpuSample[], atMs: number): number | undefined {
  const index = samples.findIndex((sample) => sample.atMs >= atMs);
  const [before, after] = [samples[index - 1], samples[index]];
  if (before === undefined || after === undefined) return undefined;
  const share = (atMs - before.atMs) / (after.atMs - before.atMs);
  return before.cpuSeconds + share * (after.cpuSeconds - before.cpuSeconds);
}

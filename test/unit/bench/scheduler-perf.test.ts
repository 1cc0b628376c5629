import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { barsOf } from '../../../bench/scheduler-perf/bars.ts';
import { runInMemory } from '../../../bench/scheduler-perf/in-memory.ts';
import { nodeOf } from '../../../bench/scheduler-perf/objects.ts';
import { cpuBetween, upstreamRunOf } from '../../../bench/scheduler-perf/on-upstream.ts';
import { ThroughputSamples } from '../../../bench/scheduler-perf/throughput.ts';
import { readWorkload } from '../../../bench/scheduler-perf/workload.ts';
import { tempDir } from '../../support/temp-dir.ts';

const pod = (cpu: string, priority: number) => `
kind: Pod
metadata: {generateName: pod-${priority}-}
spec:
  priority: ${priority}
  containers: [{name: main, image: app, resources: {requests: {cpu: ${cpu}}}}]
`;

const node = `
kind: Node
metadata: {generateName: worker-}
status: {capacity: {cpu: "4", memory: 8Gi, pods: "10"}, conditions: [{type: Ready, status: "True"}]}
`;

const ops = `
  - opcode: createNodes
    countParam: $initNodes
    nodeTemplatePath: ../templates/node.yaml
    labelNodePrepareStrategy: {labelKey: zone, labelValues: [a, b]}
  - {opcode: createNamespaces, prefix: team, count: 2}
  - {opcode: createPods, countParam: $initPods, namespace: team-1}
  - {opcode: churn, mode: create, templatePaths: [../templates/large.yaml], intervalMilliseconds: 200}
  - {opcode: createPods, countParam: $measurePods, podTemplatePath: ../templates/high.yaml, collectMetrics: true}
`;

/** A folder like upstream's with one case. */
async function casesOf(workloadTemplate = ops): Promise<string> {
  const root = await tempDir();
  await mkdir(join(root, 'misc'));
  await mkdir(join(root, 'templates'));
  const files = { 'low.yaml': pod('900m', 0), 'high.yaml': pod('3', 10), 'large.yaml': pod('9', 10), 'node.yaml': node };
  for (const [name, text] of Object.entries(files)) await writeFile(join(root, 'templates', name), text);
  const text = `
- name: Fights
  defaultPodTemplatePath: ../templates/low.yaml
  workloadTemplate: ${workloadTemplate}
  workloads:
  - {name: Few, featureGates: {Some: true}, params: {initNodes: 4, initPods: 16, measurePods: 2}}
  - {name: Many, threshold: 70, params: {initNodes: 40, initPods: 80, measurePods: 60}}
`;
  await writeFile(join(root, 'misc/performance-config.yaml'), text);
  return root;
}

const chosen = {
  folder: 'misc',
  sizes: [
    [4, 'Few'],
    [40, 'Many'],
  ],
} as const;

describe("a workload of Kubernetes' scheduler_perf", () => {
  it('is read with its steps', async () => {
    const { steps, params } = await readWorkload(await casesOf(), 'Fights', chosen, 4);
    expect(params).toEqual({ initNodes: 4, initPods: 16, measurePods: 2 });
    const [nodes, namespaces, init, churn, measured] = steps;
    expect(nodes).toMatchObject({ kind: 'nodes', count: 4, label: { key: 'zone', values: ['a', 'b'] } });
    expect(namespaces).toEqual({ kind: 'namespaces', names: ['team-0', 'team-1'] });
    expect(init).toMatchObject({
      kind: 'pods',
      count: 16,
      namespace: 'team-1',
      measured: false,
      template: { spec: { priority: 0 } },
    });
    expect(churn).toMatchObject({
      kind: 'churn',
      namespace: 'namespace-3',
      everyMs: 200,
      templates: [{ spec: { priority: 10 } }],
    });
    expect(measured).toMatchObject({ count: 2, namespace: 'namespace-4', measured: true, template: { spec: { priority: 10 } } });
  });

  it("has upstream's plain node and plain pod where no file is named", async () => {
    const root = await casesOf('[{opcode: createNodes, count: 3}, {opcode: createPods, count: 5}]');
    const text = await readFile(join(root, 'misc/performance-config.yaml'), 'utf8');
    await writeFile(join(root, 'misc/performance-config.yaml'), text.replace(/^ {2}defaultPodTemplatePath.*$/m, ''));
    const { steps } = await readWorkload(root, 'Fights', chosen, 4);
    const amounts = { cpu: '100m', memory: '500Mi' };
    expect(steps).toMatchObject([
      { count: 3, template: { status: { capacity: { cpu: '4', memory: '32Gi', pods: '110' } } } },
      { count: 5, template: { spec: { containers: [{ resources: { limits: amounts, requests: amounts } }] } } },
    ]);
  });

  it.each([
    [40, { initNodes: 40, initPods: 80, measurePods: 60 }],
    [20, { initNodes: 20, initPods: 40, measurePods: 30 }],
    [80, { initNodes: 80, initPods: 160, measurePods: 120 }],
    [2, { initNodes: 2, initPods: 8, measurePods: 1 }],
  ])('has for %s nodes the numbers of the next larger size, in proportion', async (count, params) => {
    expect((await readWorkload(await casesOf(), 'Fights', chosen, count)).params).toEqual(params);
  });

  it('has no more nodes than it may', async () => {
    const { params } = await readWorkload(await casesOf(), 'Fights', { ...chosen, mostNodes: 20 }, 5000);
    expect(params.initNodes).toBe(20);
  });

  it("goes to upstream's harness with the chosen numbers and whole paths", async () => {
    const root = await casesOf();
    const { upstream } = await readWorkload(root, 'Fights', chosen, 4);
    expect(upstream.defaultPodTemplatePath).toBe(join(root, 'templates/low.yaml'));
    expect(upstream.workloadTemplate[3]?.templatePaths).toEqual([join(root, 'templates/large.yaml')]);
    expect(upstream.workloads).toEqual([
      { name: 'Few', featureGates: { Some: true }, params: { initNodes: 4, initPods: 16, measurePods: 2 } },
    ]);
  });

  it.each([
    ['[{opcode: sleep}]', 'Fights: the driver has no sleep'],
    ['[{opcode: createPods, count: 1, steadyState: true}]', 'Fights: the driver has no createPods.steadyState'],
    ['[{opcode: createPods, countParam: $pods}]', 'No number is given for $pods'],
    ['[{opcode: churn, mode: recreate, templatePaths: []}]', 'Fights: the driver has no churn of mode recreate'],
    ['[{opcode: churn, mode: create, templatePaths: [../templates/node.yaml]}]', 'the driver makes no Node'],
  ])('is refused where the driver would do something else: %s', async (template, message) => {
    await expect(readWorkload(await casesOf(template), 'Fights', chosen, 4)).rejects.toThrow(message);
  });

  it('is refused under a name that upstream does not have', async () => {
    const root = await casesOf();
    await expect(readWorkload(root, 'Peace', chosen, 4)).rejects.toThrow('has no case Peace');
    await expect(readWorkload(root, 'Fights', { ...chosen, sizes: [[4, 'Some']] }, 4)).rejects.toThrow('no workload Some');
  });

  it('gives its nodes names and labels in turn', async () => {
    const { steps } = await readWorkload(await casesOf(), 'Fights', chosen, 4);
    const [nodes] = steps;
    if (nodes?.kind !== 'nodes') throw new Error('the first step makes nodes');
    expect([0, 1, 2].map((index) => nodeOf(nodes, index).metadata)).toEqual([
      { name: 'worker-00000', labels: { 'kubernetes.io/hostname': 'worker-00000', zone: 'a' } },
      { name: 'worker-00001', labels: { 'kubernetes.io/hostname': 'worker-00001', zone: 'b' } },
      { name: 'worker-00002', labels: { 'kubernetes.io/hostname': 'worker-00002', zone: 'a' } },
    ]);
  });

  it('is played in memory, where pods preempt others', async () => {
    const { steps } = await readWorkload(await casesOf(), 'Fights', chosen, 4);
    const run = await runInMemory(steps);
    expect(run.podsASecond).toBeGreaterThan(0);
    expect(run.throughput).toBeUndefined();
  });
});

describe('the throughput', () => {
  function of(...samples: readonly (readonly [seconds: number, scheduled: number])[]) {
    const all = new ThroughputSamples();
    for (const [seconds, scheduled] of samples) all.sample(seconds * 1000, scheduled);
    return all.result();
  }

  it('begins with the first sample that has a pod, which does not count', () => {
    expect(of([1, 0], [2, 500], [3, 600], [4, 900])).toEqual({ average: 200, p50: 100, p90: 300, p99: 300 });
  });

  it('spreads what comes after a standstill over it', () => {
    expect(of([1, 10], [2, 10], [3, 10], [4, 310])).toEqual({ average: 100, p50: 100, p90: 100, p99: 100 });
    expect(of([1, 10], [2, 10], [4, 310], [5, 710])?.average).toBe((100 + 100 + 400) / 3);
  });

  it('is not known where there were fewer than two samples with pods, or nothing came after the first', () => {
    expect(of()).toBeUndefined();
    expect(of([1, 0], [2, 1000])).toBeUndefined();
    expect(of([1, 10], [2, 10])).toBeUndefined();
  });
});

describe("what upstream's harness writes", () => {
  const item = (Metric: string, data: Record<string, number> | null) => ({ data, labels: { Metric } });
  const duration = item('SchedulingDuration', { Duration: 4 });

  it('is read', () => {
    const throughput = item('SchedulingThroughput', { Average: 250, Perc50: 240, Perc90: 300, Perc95: 305, Perc99: 310 });
    const run = upstreamRunOf([item('heap_memory_usage', { Average: 90 }), throughput, duration], 1000, (seconds) => seconds / 2);
    expect(run).toEqual({ throughput: { average: 250, p50: 240, p90: 300, p99: 310 }, podsASecond: 250, cpuMsAPod: 2 });
  });

  it('may lack the throughput, but not the time', () => {
    expect(upstreamRunOf([item('SchedulingThroughput', null), duration], 1000)).toEqual({ podsASecond: 250 });
    expect(() => upstreamRunOf([], 1000)).toThrow('no SchedulingDuration');
  });

  it('is set beside the CPU of that time', () => {
    const samples = [0, 1000, 2000, 3000].map((atMs) => ({ atMs, cpuSeconds: (atMs / 1000) ** 2 }));
    expect(cpuBetween(samples, 500, 2500)).toBe(6.5 - 0.5);
    expect(cpuBetween(samples, 500, 3500)).toBeUndefined();
    expect(cpuBetween(samples, -100, 2500)).toBeUndefined();
  });
});

describe('the bars of scheduler_perf', () => {
  const sampled = (average: number, podsASecond: number) => ({
    throughput: { average, p50: average, p90: average, p99: average },
    podsASecond,
    cpuMsAPod: 2,
  });

  function valuesOf(runs: Parameters<typeof barsOf>[1]): number[] {
    return barsOf('Fights', runs).map(({ value }) => value);
  }

  it('compare the throughput where both have one, else the whole time', () => {
    expect(valuesOf({ ours: sampled(600, 100), kubeScheduler: sampled(200, 300) })).toEqual([3, 1]);
    expect(valuesOf({ ours: { podsASecond: 100 }, kubeScheduler: { podsASecond: 300 } })).toEqual([1 / 3, Number.NaN]);
    expect(valuesOf({ memory: { podsASecond: 800 }, schedulerPerf: sampled(200, 100) })).toEqual([4]);
    expect(valuesOf({ ours: sampled(600, 100), memory: { podsASecond: 800 } })).toEqual([]);
  });
});

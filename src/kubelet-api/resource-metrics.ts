import type { CPUStats, MemoryStats, StatsSummary } from './stats-types.ts';

interface Usage {
  readonly labels: string;
  readonly cpu: CPUStats | undefined;
  readonly memory: MemoryStats | undefined;
}

/** `/metrics/resource` in the text format of Prometheus (`pkg/kubelet/metrics/collectors/resource_metrics.go`). */
export function resourceMetrics({ node, pods }: StatsSummary): string {
  const nodes: Usage[] = [{ labels: '', cpu: node.cpu, memory: node.memory }];
  const podUsages = pods.map(({ podRef: { name, namespace }, cpu, memory }) => ({
    labels: labelsOf({ namespace, pod: name }),
    cpu,
    memory,
  }));
  const containers = pods.flatMap(({ podRef: { name, namespace }, containers: all }) =>
    all.map(({ name: container, startTime, cpu, memory }) => {
      return { labels: labelsOf({ container, namespace, pod: name }), cpu, memory, startTime };
    }),
  );
  const started = containers.map(({ labels, startTime }) =>
    sample('container_start_time_seconds', labels, Date.parse(startTime) / 1000),
  );
  return [
    ...family('container_cpu_usage_seconds_total', 'counter', 'Processor time of the container in seconds', cpuOf(containers)),
    ...family('container_memory_working_set_bytes', 'gauge', 'Working set of the container in bytes', memoryOf(containers)),
    '# HELP container_start_time_seconds Start time of the container since the epoch in seconds',
    '# TYPE container_start_time_seconds gauge',
    ...started.filter((line) => line !== ''),
    ...family('node_cpu_usage_seconds_total', 'counter', 'Processor time of the node in seconds', cpuOf(nodes)),
    ...family('node_memory_working_set_bytes', 'gauge', 'Working set of the node in bytes', memoryOf(nodes)),
    ...family('pod_cpu_usage_seconds_total', 'counter', 'Processor time of the pod in seconds', cpuOf(podUsages)),
    ...family('pod_memory_working_set_bytes', 'gauge', 'Working set of the pod in bytes', memoryOf(podUsages)),
    ...family('resource_scrape_error', 'gauge', '1 if there was an error while the metrics were got, 0 otherwise', [['', 0]]),
    '',
  ].join('\n');
}

type Samples = readonly (readonly [labels: string, value: number | undefined])[];

function family(name: string, type: 'counter' | 'gauge', help: string, samples: Samples): string[] {
  const lines = samples.map(([labels, value]) => sample(name, labels, value)).filter((line) => line !== '');
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines];
}

function cpuOf(usages: readonly Usage[]): Samples {
  return usages.map(({ labels, cpu }) => [
    labels,
    cpu?.usageCoreNanoSeconds === undefined ? undefined : cpu.usageCoreNanoSeconds / 1e9,
  ]);
}

function memoryOf(usages: readonly Usage[]): Samples {
  return usages.map(({ labels, memory }) => [labels, memory?.workingSetBytes]);
}

function sample(name: string, labels: string, value: number | undefined): string {
  return value === undefined || !Number.isFinite(value) ? '' : `${name}${labels} ${value}`;
}

function labelsOf(labels: Readonly<Record<string, string>>): string {
  const escaped = Object.entries(labels).map(([name, value]) => {
    return `${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
  });
  return `{${escaped.join(',')}}`;
}

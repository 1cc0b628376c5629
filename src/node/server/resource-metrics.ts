import type { CPUStats, MemoryStats, StatsSummary, SwapStats } from './stats-types.ts';

interface LabelledStats {
  readonly labels: string;
  readonly cpu?: CPUStats | undefined;
  readonly memory?: MemoryStats | undefined;
  readonly swap?: SwapStats | undefined;
}

/** The value of one sample, and when it was measured, in RFC 3339; undefined: at no time of its own. */
interface Sample {
  readonly labels: string;
  readonly value: number | undefined;
  readonly time?: string | undefined;
}

/**
 * `/metrics/resource` in the text format of Prometheus (`pkg/kubelet/metrics/collectors/resource_metrics.go`). Without a summary it says
 * that there is none.
 */
export function resourceMetrics(summary: StatsSummary | undefined): string {
  const error = { labels: '', value: summary === undefined ? 1 : 0 };
  return [
    ...(summary === undefined ? [] : usageMetrics(summary)),
    ...family('resource_scrape_error', 'gauge', '1 if there was an error while the metrics were got, 0 otherwise', [error]),
    '',
  ].join('\n');
}

function usageMetrics({ node, pods: all }: StatsSummary): string[] {
  const nodes: LabelledStats[] = [{ ...node, labels: '' }];
  const pods = all.map((pod) => ({ ...pod, labels: labelsOf({ namespace: pod.podRef.namespace, pod: pod.podRef.name }) }));
  const containers = all.flatMap(({ podRef: { name: pod, namespace }, containers: ofPod }) =>
    ofPod.map((each) => ({ ...each, labels: labelsOf({ container: each.name, namespace, pod }) })),
  );
  const started = containers.map(({ labels, startTime }) => ({ labels, value: Date.parse(startTime) / 1000 }));
  const limits = containers.map(swapLimitOf);
  return [
    ...family('container_cpu_usage_seconds_total', 'counter', 'Processor time of the container in seconds', cpuOf(containers)),
    ...family('container_memory_working_set_bytes', 'gauge', 'Working set of the container in bytes', memoryOf(containers)),
    ...family('container_start_time_seconds', 'gauge', 'Start time of the container since the epoch in seconds', started),
    ...family('container_swap_limit_bytes', 'gauge', 'How much the container may swap out in bytes', limits),
    ...family('container_swap_usage_bytes', 'gauge', 'What the container has swapped out in bytes', swapOf(containers)),
    ...family('node_cpu_usage_seconds_total', 'counter', 'Processor time of the node in seconds', cpuOf(nodes)),
    ...family('node_memory_working_set_bytes', 'gauge', 'Working set of the node in bytes', memoryOf(nodes)),
    ...family('node_swap_usage_bytes', 'gauge', 'What the node has swapped out in bytes', swapOf(nodes)),
    ...family('pod_cpu_usage_seconds_total', 'counter', 'Processor time of the pod in seconds', cpuOf(pods)),
    ...family('pod_memory_working_set_bytes', 'gauge', 'Working set of the pod in bytes', memoryOf(pods)),
    ...family('pod_swap_usage_bytes', 'gauge', 'What the pod has swapped out in bytes', swapOf(pods)),
  ];
}

/** Nothing of a family without samples. */
function family(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): string[] {
  const lines = samples.map((each) => line(name, each)).filter((text) => text !== '');
  return lines.length === 0 ? [] : [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines];
}

function cpuOf(usages: readonly LabelledStats[]): Sample[] {
  return usages.map(({ labels, cpu }) => {
    const { usageCoreNanoSeconds: nanoseconds, time } = cpu ?? {};
    return { labels, time, value: nanoseconds === undefined ? undefined : nanoseconds / 1e9 };
  });
}

function memoryOf(usages: readonly LabelledStats[]): Sample[] {
  return usages.map(({ labels, memory }) => ({ labels, time: memory?.time, value: memory?.workingSetBytes }));
}

function swapOf(usages: readonly LabelledStats[]): Sample[] {
  return usages.map(({ labels, swap }) => ({ labels, time: swap?.time, value: swap?.swapUsageBytes }));
}

function swapLimitOf({ labels, swap }: LabelledStats): Sample {
  const { swapAvailableBytes: available, swapUsageBytes: used = 0, time } = swap ?? {};
  return { labels, time, value: available === undefined ? undefined : available + used };
}

/** With the time of the measurement in milliseconds, where that is known. */
function line(name: string, { labels, value, time }: Sample): string {
  if (value === undefined || !Number.isFinite(value)) return '';
  const at = Date.parse(time ?? '');
  return `${name}${labels} ${value}${at > 0 ? ` ${at}` : ''}`;
}

function labelsOf(labels: Readonly<Record<string, string>>): string {
  const escaped = Object.entries(labels).map(([name, value]) => {
    return `${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
  });
  return `{${escaped.join(',')}}`;
}

/** What `/metrics/probes` shows of all metrics: those of probes, and when the process began. */
export function probeMetrics(all: string): string {
  const lines = all.split('\n').filter((text) => /^(?:# (?:HELP|TYPE) )?(?:prober_probe_|process_start_time_seconds)/.test(text));
  return lines.map((text) => `${text}\n`).join('');
}

// The families of github.com/google/cadvisor/metrics v0.56.2 that are made here, in the order in which they are shown.

/** Each family with its type and its help. */
export const metricFamilies = {
  machine_cpu_cores: ['gauge', 'Number of logical CPU cores.'],
  machine_memory_bytes: ['gauge', 'Amount of memory installed on the machine.'],
  machine_swap_bytes: ['gauge', 'Amount of swap memory available on the machine.'],
  container_scrape_error: ['gauge', '1 if there was an error while getting container metrics, 0 otherwise'],
  container_last_seen: ['gauge', 'Last time a container was seen by the exporter'],
  container_start_time_seconds: ['gauge', 'Start time of the container since unix epoch in seconds.'],
  container_cpu_usage_seconds_total: ['counter', 'Cumulative cpu time consumed in seconds.'],
  container_cpu_user_seconds_total: ['counter', 'Cumulative user cpu time consumed in seconds.'],
  container_cpu_system_seconds_total: ['counter', 'Cumulative system cpu time consumed in seconds.'],
  container_cpu_cfs_periods_total: ['counter', 'Number of elapsed enforcement period intervals.'],
  container_cpu_cfs_throttled_periods_total: ['counter', 'Number of throttled period intervals.'],
  container_cpu_cfs_throttled_seconds_total: ['counter', 'Total time duration the container has been throttled.'],
  container_memory_usage_bytes: [
    'gauge',
    'Current memory usage in bytes, including all memory regardless of when it was accessed',
  ],
  container_memory_working_set_bytes: ['gauge', 'Current working set in bytes.'],
  container_memory_rss: ['gauge', 'Size of RSS in bytes.'],
  container_memory_cache: ['gauge', 'Number of bytes of page cache memory.'],
  container_memory_swap: ['gauge', 'Container swap usage in bytes.'],
  container_memory_mapped_file: ['gauge', 'Size of memory mapped files in bytes.'],
  container_memory_max_usage_bytes: ['gauge', 'Maximum memory usage recorded in bytes'],
  container_memory_failcnt: ['counter', 'Number of memory usage hits limits'],
  container_memory_total_active_file_bytes: ['gauge', 'Current total active file in bytes.'],
  container_memory_total_inactive_file_bytes: ['gauge', 'Current total inactive file in bytes.'],
  container_oom_events_total: ['counter', 'Count of out of memory events observed for the container'],
  container_fs_inodes_free: ['gauge', 'Number of available Inodes'],
  container_fs_inodes_total: ['gauge', 'Number of Inodes'],
  container_fs_limit_bytes: ['gauge', 'Number of bytes that can be consumed by the container on this filesystem.'],
  container_fs_usage_bytes: ['gauge', 'Number of bytes that are consumed by the container on this filesystem.'],
  container_fs_reads_bytes_total: ['counter', 'Cumulative count of bytes read'],
  container_fs_reads_total: ['counter', 'Cumulative count of reads completed'],
  container_fs_writes_bytes_total: ['counter', 'Cumulative count of bytes written'],
  container_fs_writes_total: ['counter', 'Cumulative count of writes completed'],
  container_network_receive_bytes_total: ['counter', 'Cumulative count of bytes received'],
  container_network_receive_packets_total: ['counter', 'Cumulative count of packets received'],
  container_network_receive_packets_dropped_total: ['counter', 'Cumulative count of packets dropped while receiving'],
  container_network_receive_errors_total: ['counter', 'Cumulative count of errors encountered while receiving'],
  container_network_transmit_bytes_total: ['counter', 'Cumulative count of bytes transmitted'],
  container_network_transmit_packets_total: ['counter', 'Cumulative count of packets transmitted'],
  container_network_transmit_packets_dropped_total: ['counter', 'Cumulative count of packets dropped while transmitting'],
  container_network_transmit_errors_total: ['counter', 'Cumulative count of errors encountered while transmitting'],
  container_processes: ['gauge', 'Number of processes running inside the container.'],
  container_threads: ['gauge', 'Number of threads running inside the container'],
  container_threads_max: ['gauge', 'Maximum number of threads allowed inside the container, infinity if value is zero'],
  container_pressure_cpu_stalled_seconds_total: ['counter', 'Time in which no task could go on for want of processor time.'],
  container_pressure_cpu_waiting_seconds_total: ['counter', 'Time in which tasks have waited for processor time.'],
  container_pressure_memory_stalled_seconds_total: ['counter', 'Time in which no task could go on for want of memory.'],
  container_pressure_memory_waiting_seconds_total: ['counter', 'Time in which tasks have waited for memory.'],
  container_pressure_io_stalled_seconds_total: ['counter', 'Time in which no task could go on for want of IO.'],
  container_pressure_io_waiting_seconds_total: ['counter', 'Time in which tasks have waited for IO.'],
  container_spec_cpu_period: ['gauge', 'CPU period of the container.'],
  container_spec_cpu_quota: ['gauge', 'CPU quota of the container.'],
  container_spec_cpu_shares: ['gauge', 'CPU share of the container.'],
  container_spec_memory_limit_bytes: ['gauge', 'Memory limit for the container.'],
  container_spec_memory_swap_limit_bytes: ['gauge', 'Memory swap limit for the container.'],
  container_spec_memory_reservation_limit_bytes: ['gauge', 'Memory reservation limit for the container.'],
} as const satisfies Readonly<Record<string, readonly ['gauge' | 'counter', string]>>;

export type MetricFamily = keyof typeof metricFamilies;

/** One value of a family. */
export interface MeasuredValue {
  readonly family: MetricFamily;
  readonly value: number;
  /** Beside the labels that tell what was measured. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** What has the same labels, and was measured at one time. */
export interface MeasuredGroup {
  readonly labels: Readonly<Record<string, string>>;
  /** In milliseconds since the epoch. Undefined: shown without a time. */
  readonly at: number | undefined;
  readonly values: readonly MeasuredValue[];
}

/** They say how something is set, and no measurement has a time. */
const timeless = /^container_(?:spec_|start_time_)/;

/** All of it in the text format of Prometheus. */
export function metricsText(groups: readonly MeasuredGroup[]): string {
  const lines = new Map<string, string[]>();
  for (const { labels, at, values } of groups) {
    const common = labelText(labels);
    for (const { family, value, labels: own } of values) {
      if (!Number.isFinite(value)) continue;
      const all = own === undefined ? common : [common, labelText(own)].filter((text) => text !== '').join(',');
      const time = at === undefined || timeless.test(family) ? '' : ` ${Math.round(at)}`;
      const ofFamily = lines.get(family) ?? [];
      ofFamily.push(`${family}${all === '' ? '' : `{${all}}`} ${value}${time}\n`);
      lines.set(family, ofFamily);
    }
  }
  return Object.entries(metricFamilies)
    .filter(([family]) => lines.has(family))
    .map(([family, [type, help]]) => `# HELP ${family} ${help}\n# TYPE ${family} ${type}\n${lines.get(family)?.join('')}`)
    .join('');
}

function labelText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`)
    .join(',');
}

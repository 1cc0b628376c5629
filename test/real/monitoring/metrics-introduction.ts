/** The part of docs/metrics.md that is no table. */
export const introduction = `<!-- Made by \`npm run docs:metrics\` out of metricDefinitions and test/real/monitoring/metrics-introduction.ts. -->
# Metrics

Every part of the library measures what it does, once it is given a sink by the option \`metrics\`. A \`ProviderNode\` hands its sink
to all of its parts. Without a sink nothing is measured.

| sink | made by | what it needs |
|---|---|---|
| a registry of prom-client, which Prometheus reads | \`createPrometheusMetrics\` of \`pod-status-manager/prometheus\` | \`npm install prom-client\` |
| a meter of OpenTelemetry | \`createOpenTelemetryMetrics\` of \`pod-status-manager/opentelemetry\` | \`npm install @opentelemetry/api\`, and an SDK |
| your own | any object with the methods of \`MetricsSink\` | – |

## Prometheus

The registry is yours: you serve it, and its other metrics stay as they are. A whole program is in
[examples/prometheus.ts](../examples/prometheus.ts).

\`\`\`ts
import { ProviderNode } from 'pod-status-manager/node';
import { createPrometheusMetrics } from 'pod-status-manager/prometheus';
import { InMemoryApiServer } from 'pod-status-manager/testing';
import { Registry } from 'prom-client';

const server = await InMemoryApiServer.start();
const registry = new Registry();
const metrics = createPrometheusMetrics({ registry, labels: { node: 'node-1' } });
const provider = { createPod() {}, deletePod() {}, getPodStatus: () => undefined };
const node = new ProviderNode({ kubeConfig: server.kubeConfig(), nodeName: 'node-1', provider, metrics });
await node.start();
console.log(await registry.metrics()); // what Prometheus gets
await node.stop();
await metrics.close();
await server.stop();
\`\`\`

Several nodes or managers of one process share a registry: each has a sink of its own, with the same names of \`labels\` and other
values. A registry that has a metric of one of these names already is refused, and so are two sinks that nothing would tell apart.
The error says which metric it is; \`omit\` leaves a metric out.

## OpenTelemetry

Each metric becomes an instrument of the same name, and its labels become attributes. Gauges are observable: they are read when
your provider collects.

\`\`\`ts no-run
import { metrics as api } from '@opentelemetry/api';
import { createOpenTelemetryMetrics } from 'pod-status-manager/opentelemetry';

const metrics = createOpenTelemetryMetrics({ meter: api.getMeter('my-agent'), attributes: { node: 'node-1' } });
\`\`\`

OpenTelemetry has no way to end a series, so those of pods (\`prober_probe_total\`, \`prober_probe_duration_seconds\`) outlive their
pods. Leave them out with \`omit\` where many pods with probes come and go. So do those of resources of device plugins
(\`kubelet_device_plugin_registration_total\`, \`kubelet_device_plugin_alloc_duration_seconds\`) whose plugins are gone.

## A sink of your own

\`metricDefinitions\` lists every metric with its type, help, unit, labels and buckets, so that a sink can make what it needs before
anything is measured. A sink that is read from outside has \`onCollect\`: the gauges that are measured only when somebody looks, such
as ages and queue lengths, are then set before each collection. A sink without it gets them every ten seconds.

\`\`\`ts
import { type MetricsSink, metricDefinitions } from 'pod-status-manager';

const totals = new Map<string, number>();
const sink: MetricsSink = {
  increment: (name, _labels, by = 1) => void totals.set(name, (totals.get(name) ?? 0) + by),
  observe() {},
  set() {},
};
sink.increment('pod_status_manager_repairs_total');
console.log(totals, metricDefinitions.pod_status_manager_repairs_total.help);
\`\`\`

## Dashboard and alerts

[deploy/monitoring](../deploy/monitoring) has a Grafana dashboard (\`dashboard.json\`: import it, and choose your Prometheus) and alert
rules for Prometheus (\`alerts.yaml\`). promtool checks the rules, their unit tests and the queries of the dashboard
(\`npm run test:monitoring\`).

What to look at first: \`pod_status_manager_oldest_unsent_change_age_seconds\` is near 0 when all is well. When it grows,
\`pod_status_manager_pods\` says by phase what the pods wait for, and \`pod_status_manager_requests_total\` by result what the apiserver
answers.

## What it costs

Without a sink: too little to tell it from the noise of a measurement. With prom-client or OpenTelemetry a change of a status, from \`setPodStatus\` to the
end of its patch, takes about 2 % more processor time; a collection looks at every pod, and takes about 1.2 ms for 500 pods.
\`npm run bench:metrics\` measures this, sink beside sink, in one run. The delay of the event loop is sampled by a timer every 20 ms,
which \`eventLoopDelay: false\` turns off.

## What containers take

A \`NodeAgent\` that serves its API answers \`/metrics/cadvisor\` as a kubelet does, for whom may read \`nodes/metrics\`: the series that the dashboards and rules of
kube-prometheus and kubernetes-mixin ask for, with the names, labels and units of cAdvisor. They are read from the files of the kernel when somebody asks, of cgroups of
version 1 and 2, of both drivers, and one reading counts for five seconds. The labels \`container\`, \`image\`, \`name\`, \`namespace\`, \`pod\` and \`id\` are there on each:
of the machine (\`id="/"\`), of all pods, of a class, of a pod, of its sandbox (which has the network of the pod) and of each container.

| series | what they tell |
|---|---|
| \`container_cpu_usage_seconds_total\` (\`cpu="total"\`), \`_user_\`, \`_system_\`; \`container_cpu_cfs_periods_total\`, \`_throttled_periods_total\`, \`_throttled_seconds_total\` | processor time, and how often a limit held it up |
| \`container_memory_working_set_bytes\`, \`_usage_bytes\`, \`_rss\`, \`_cache\`, \`_swap\`, \`_mapped_file\`, \`_max_usage_bytes\`, \`_failcnt\`, \`_total_active_file_bytes\`, \`_total_inactive_file_bytes\`; \`container_oom_events_total\` | memory |
| \`container_network_receive_*\`, \`container_network_transmit_*\`: \`bytes\`, \`packets\`, \`packets_dropped\`, \`errors\` | network of a sandbox and of the machine, by \`interface\` |
| \`container_fs_reads_total\`, \`_reads_bytes_total\`, \`_writes_total\`, \`_writes_bytes_total\` | disks, by \`device\` |
| \`container_fs_usage_bytes\`, \`_limit_bytes\`, \`_inodes_total\`, \`_inodes_free\` | disks of the machine, by \`device\` |
| \`container_spec_cpu_period\`, \`_quota\`, \`_shares\`; \`container_spec_memory_limit_bytes\`, \`_swap_limit_bytes\`, \`_reservation_limit_bytes\` | limits |
| \`container_processes\`, \`container_threads\`, \`container_threads_max\`; \`container_pressure_*\` | processes; waits for processor time, memory and disks, by cgroups of version 2 |
| \`container_start_time_seconds\`, \`container_last_seen\`, \`container_scrape_error\`; \`machine_cpu_cores\`, \`machine_memory_bytes\`, \`machine_swap_bytes\` | |

Not there is what no rule asks for and costs much to read: open files, sockets, limits of users, states of tasks, page faults, merges and queues of disks, and what the
machine is made of (\`machine_*\` beside those above). cgroups of other programs than pods are not shown. Where the runtime does not answer within five seconds, the series
of containers are missing and \`container_scrape_error\` is 1.

\`/metrics/probes\` has \`prober_probe_total\` and \`prober_probe_duration_seconds\` alone, \`/metrics/resource\` what metrics-server reads.`;

// A node agent in the kubelet's place: the settings of its configuration file, its flags, real containers.
// Run it: node examples/kubelet/main.ts --help
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { CriRuntime } from 'pod-status-manager/cri';
import { NodeAgent } from 'pod-status-manager/kubelet';
import { GrpcPlugins } from 'pod-status-manager/plugins';
import { createPrometheusMetrics } from 'pod-status-manager/prometheus';
import { openSystemBus } from 'pod-status-manager/systemd';
import { Registry } from 'prom-client';
import { type ClusterAccess, clusterAccess } from './cluster-access.ts';
import { readConfig } from './config-file.ts';
import { type Flags, help, parseFlags, versionText } from './flags.ts';
import {
  registryCredentialFiles,
  requireCgroups,
  requireNoSwap,
  requireOwnCgroup,
  serverOptions,
  socketPath,
} from './own-settings.ts';
import { loggerOf } from './process-log.ts';
import { applyToProcess } from './process-settings.ts';
import { toldFields } from './told-fields.ts';

/** The kubelet's, where the agent's own are others, or where the program follows them. */
const agentDefaults = { healthzPort: 10_248, runtimeRequestTimeoutMs: 120_000 };

async function run(flags: Flags, stop: AbortSignal): Promise<void> {
  const { options: given, own, unused, skipped } = await readConfig(flags);
  const options = { ...agentDefaults, ...given };
  for (const each of [...flags.unused, ...unused]) console.warn(`without effect: ${each}`);
  for (const path of skipped) console.warn(`${path} is not read, since its name does not end in .conf`);
  requireNoSwap(own, await readFile('/proc/swaps', 'utf8').catch(() => ''));
  requireCgroups(own, await readFile('/sys/fs/cgroup/cgroup.controllers', 'utf8').catch(() => undefined));
  requireOwnCgroup(own, await readFile('/proc/self/cgroup', 'utf8').catch(() => ''));
  const undone = await applyToProcess(own);
  for (const { why } of undone) console.warn(why);
  const logger = loggerOf({ format: own['logging.format'], verbosity: own['logging.verbosity'] });
  const runtime = new CriRuntime({
    socketPath: socketPath(own.containerRuntimeEndpoint),
    callTimeoutMs: options.runtimeRequestTimeoutMs,
    ...(own.imageServiceEndpoint !== undefined && { imageSocketPath: socketPath(own.imageServiceEndpoint) }),
  });
  const registry = new Registry();
  const server = serverOptions(own, flags, logger);
  let access: ClusterAccess | undefined;
  let agent: NodeAgent | undefined;
  try {
    access = await clusterAccess(flags, own, { signal: stop, logger });
    agent = new NodeAgent({
      ...options,
      kubeConfig: access.kubeConfig,
      ...(access.certificate !== undefined && { clientCertificate: access.certificate }),
      externalCloudProvider: flags.externalCloudProvider,
      registryCredentialFiles: registryCredentialFiles(flags),
      ...flags.imageCredentials,
      nodeName: flags.nodeName,
      runtime,
      plugins: new GrpcPlugins(),
      openSystemBus,
      metrics: createPrometheusMetrics({ registry }),
      metricsText: () => registry.metrics(),
      kubeletConfiguration: toldFields(
        own,
        undone.map(({ field }) => field),
      ),
      ...(server !== undefined && { server }),
      ...(logger !== undefined && { logger }),
      ...(flags.nodeIPs !== undefined && { nodeIPs: flags.nodeIPs }),
      ...(flags.nodeLabels !== undefined && { nodeLabels: flags.nodeLabels }),
      ...(flags.rootDirectory !== undefined && { rootDirectory: flags.rootDirectory }),
    });
    await agent.start({ signal: stop });
    console.log(`The node ${flags.nodeName} is registered.`);
    if (!stop.aborted) await once(stop, 'abort');
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    // the pods go on; the next start takes them over
    await agent?.stop();
    await access?.certificate?.stop();
    await runtime.close();
  }
}

async function main(args: readonly string[]): Promise<void> {
  const flags = parseFlags(args);
  if (flags === 'help') console.log(help);
  else if (flags === 'version') console.log(versionText);
  else {
    const stopping = new AbortController();
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopping.abort());
    await run(flags, stopping.signal);
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

// What the program does, from its flags to its end.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { dump } from 'js-yaml';
import { KubeTransport, loadClientConfig } from 'pod-status-manager';
import { createPrometheusMetrics } from 'pod-status-manager/prometheus';
import { ClusterScheduler, Scheduler } from 'pod-status-manager/scheduler';
import { Registry } from 'prom-client';
import { loggerOf } from '../kubelet/process-log.ts';
import type { Flags } from './flags.ts';
import { policyOf } from './policy.ts';
import type { ServedPages } from './serving.ts';
import { type Settings, settingsOf } from './settings.ts';

/** Writes nothing where the profiles of the configuration cannot be used. */
async function writeConfiguration(file: string, { options, complete }: Settings): Promise<void> {
  await new Scheduler({ client: { bind: async () => {} }, profiles: options.profiles, logger: null }).stop();
  await writeFile(file, dump(complete, { sortKeys: true, lineWidth: -1 }));
}

/** Schedules until the signal aborts, or writes the configuration. `print` gets what it says of its course. Rejects where it cannot start. */
export async function run(flags: Flags, stop: AbortSignal, print: (line: string) => void): Promise<void> {
  const settings = await settingsOf(flags);
  const { options, kubeconfig, complete, withoutEffect } = settings;
  for (const member of withoutEffect) print(`without effect: ${member}`);
  if (flags.writeConfigTo !== undefined) return writeConfiguration(flags.writeConfigTo, settings);
  const logger = loggerOf({ format: 'text', verbosity: flags.verbosity });
  const registry = new Registry();
  const metrics = createPrometheusMetrics({ registry });
  const transport = new KubeTransport(loadClientConfig({ file: kubeconfig }), { connections: 32, userAgent: 'kube-scheduler' });
  let scheduler: ClusterScheduler | undefined;
  let pages: ServedPages | undefined;
  try {
    const policy = await policyOf(flags.policy, transport);
    scheduler = new ClusterScheduler({
      ...options,
      ...(policy && { profiles: [policy] }),
      ...{ transport, metrics },
      ...(logger && { logger }),
    });
    const shown = { scheduler, transport, logger, metrics: () => registry.metrics(), configz: complete };
    // what makes certificates takes memory that a scheduler without pages need not have
    if (flags.serving) pages = await (await import('./serving.ts')).servePages(flags.serving, shown);
    if (pages !== undefined) print(`Its pages are served on port ${pages.port}.`);
    await scheduler.start({ signal: stop });
    print('The scheduler has started.');
    if (!stop.aborted) await once(stop, 'abort');
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    await pages?.close();
    // another one takes over at once
    await scheduler?.stop();
    await metrics.close();
    await transport.close();
  }
}

// A scheduler in the place of kube-scheduler, with its profiles, or with those of a policy file.
// Run it: node examples/scheduler/main.ts --help
import { once } from 'node:events';
import { loadClientConfig } from 'pod-status-manager';
import { ClusterScheduler } from 'pod-status-manager/scheduler';
import { type Flags, help, parseFlags } from './flags.ts';
import { settingsOf } from './settings.ts';

async function run(flags: Flags, stop: AbortSignal): Promise<void> {
  const { kubeconfig, options, withoutEffect } = await settingsOf(flags);
  for (const member of withoutEffect) console.log(`${flags.config}: ${member} changes nothing here`);
  const kubeConfig = loadClientConfig({ file: kubeconfig });
  const scheduler = new ClusterScheduler({ kubeConfig, ...options });
  try {
    await scheduler.start({ signal: stop });
    console.log('The scheduler has started.');
    if (!stop.aborted) await once(stop, 'abort');
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    // another one takes over at once
    await scheduler.stop();
  }
}

const flags = parseFlags(process.argv.slice(2));
if (flags === 'help') {
  console.log(help);
} else {
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopping.abort());
  try {
    await run(flags, stopping.signal);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

// A scheduler in the place of kube-scheduler, with its profiles, or with those of a policy file.
// Run it: npm run example examples/scheduler/main.ts -- --help
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { load } from 'js-yaml';
import { ClusterScheduler, type ProfileOptions, policyProfile, type SchedulerOptions } from 'pod-status-manager/scheduler';
import { type Flags, help, parseFlags } from './flags.ts';

async function profilesOf({ config, policy }: Flags): Promise<SchedulerOptions['profiles']> {
  if (policy !== undefined) return [policyProfile(await readFile(policy, 'utf8'))];
  if (config === undefined) return undefined;
  const file = load(await readFile(config, 'utf8'));
  if (!isConfiguration(file)) throw new Error(`${config} is not of the kind KubeSchedulerConfiguration`);
  return file.profiles;
}

/** What the profiles hold is checked by the scheduler. */
function isConfiguration(file: unknown): file is { readonly profiles?: readonly ProfileOptions[] } {
  return typeof file === 'object' && file !== null && 'kind' in file && file.kind === 'KubeSchedulerConfiguration';
}

async function run(flags: Flags, stop: AbortSignal): Promise<void> {
  const kubeConfig = new KubeConfig();
  if (flags.kubeconfig === undefined) kubeConfig.loadFromDefault();
  else kubeConfig.loadFromFile(flags.kubeconfig);
  const profiles = await profilesOf(flags);
  const scheduler = new ClusterScheduler({
    kubeConfig,
    leaderElection: flags.leaderElection,
    ...(profiles !== undefined && { profiles }),
    ...(flags.requestLimit !== undefined && { requestLimit: flags.requestLimit }),
  });
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

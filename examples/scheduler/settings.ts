import { readFile } from 'node:fs/promises';
import { policyProfile } from 'pod-status-manager/scheduler';
import { type Configuration, readConfiguration } from './configuration.ts';
import type { Flags } from './flags.ts';

/** What the files and the flags say together; a flag counts more than a file. Throws for files that contradict each other. */
export async function settingsOf(flags: Flags): Promise<Configuration> {
  const { config, policy, leaderElect, lease, requestLimit } = flags;
  const file = config === undefined ? undefined : await readFrom(config);
  if (policy !== undefined && file?.options.profiles !== undefined) {
    throw new Error(`${config}: expected no profiles, because --policy-config-file gives the only one`);
  }
  const ofFile = file?.options.leaderElection;
  const isElected = leaderElect ?? ofFile !== false;
  return {
    options: {
      ...file?.options,
      leaderElection: isElected && { ...(ofFile || {}), ...lease },
      ...(policy !== undefined && { profiles: [policyProfile(await readFile(policy, 'utf8'))] }),
      ...(requestLimit !== undefined && { requestLimit }),
    },
    kubeconfig: flags.kubeconfig ?? file?.kubeconfig,
    withoutEffect: file?.withoutEffect ?? [],
  };
}

async function readFrom(path: string): Promise<Configuration> {
  try {
    return readConfiguration(await readFile(path, 'utf8'));
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

import { readFile } from 'node:fs/promises';
import { load } from 'js-yaml';
import { type ConfiguredOptions, readSchedulerConfiguration, type SchedulerConfiguration } from 'pod-status-manager/scheduler';
import type { Flags } from './flags.ts';

/** What the file and the flags say together. */
export interface Settings extends Omit<SchedulerConfiguration, 'options'> {
  readonly options: ConfiguredOptions & { readonly podMaxInUnschedulableMs?: number };
}

const empty = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n';

/** Throws, with the name of the file, for a file that cannot be used, and for one with profiles beside a policy, which is one. */
export async function settingsOf({ config, changes, podMaxInUnschedulableMs, policy }: Flags): Promise<Settings> {
  const text = config === undefined ? empty : await readFile(config, 'utf8');
  try {
    const { options, ...others } = readSchedulerConfiguration(text, changes);
    if (policy !== undefined && hasProfiles(load(text)))
      throw new Error('expected no profiles, because a policy is the only one');
    const { requestLimit, ...unlimited } = options;
    const isLimited = config !== undefined || Object.keys(changes).some((path) => /\.(?:qps|burst)$/.test(path));
    return {
      ...others,
      options: {
        ...unlimited,
        ...(isLimited && requestLimit && { requestLimit }),
        ...(podMaxInUnschedulableMs !== undefined && { podMaxInUnschedulableMs }),
      },
    };
  } catch (error) {
    throw new Error(`${config ?? 'the flags'}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

function hasProfiles(file: unknown): boolean {
  const profiles = typeof file === 'object' && file !== null && 'profiles' in file ? file.profiles : undefined;
  return Array.isArray(profiles) && profiles.length > 0;
}

import type { PluginHandle, ProfilePlugins } from '../../../src/scheduler/framework/plugin.ts';
import { inTreePlugins } from '../../../src/scheduler/profile/plugin-registry.ts';
import { profilePlugins } from '../../../src/scheduler/profile/profile-plugins.ts';

const nothing = (): readonly never[] => [];

/** All that hints and gates ask for: no namespace, service or controller is known, and no pod waits for its victims. */
const handle = {
  listers: {
    namespaceLabels: () => undefined,
    ...{ services: nothing, replicationControllers: nothing, replicaSets: nothing, statefulSets: nothing },
    podDisruptionBudgets: nothing,
  },
  isPreempting: () => false,
} as unknown as PluginHandle;

/** The default profile. Its plugins are asked for hints and gates only. */
export function queueProfile(schedulerName: string): ProfilePlugins {
  return profilePlugins('profile', { schedulerName }, inTreePlugins(), handle);
}

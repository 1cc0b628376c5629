import type { Plugin, ProfilePlugins } from '../framework/plugin.ts';
import { pluginsAt } from '../framework/plugin.ts';
import type { PodInfo } from '../nodes/pod-info.ts';

/** The plugin of kube-scheduler that places groups of pods. */
export const gangScheduling = 'GangScheduling';

/** The profile with a plugin that rejects pods of groups, before any other one looks at them, unless the profile says what becomes of such pods. */
export function withoutPodGroups(profile: ProfilePlugins): ProfilePlugins {
  if (profile.takesPodGroups === true) return profile;
  const refusal = podGroupRefusal();
  const preFilter = [refusal, ...pluginsAt(profile, 'preFilter')];
  return { ...profile, plugins: [...profile.plugins, refusal], points: { ...profile.points, preFilter } };
}

/** What a pod belongs to never changes, so no event can help it. */
function podGroupRefusal(): Plugin {
  return {
    name: gangScheduling,
    eventsToRegister: () => [],
    preFilter: (_state, pod) => {
      const group = groupOf(pod);
      if (group === undefined) return 'skip';
      const reasons = [`the pod belongs to ${group}, and this scheduler places no groups of pods`];
      return { code: 'UnschedulableAndUnresolvable', reasons };
    },
  };
}

interface MembersOfGroups {
  readonly schedulingGroup?: { readonly podGroupName?: unknown } | null;
  readonly workloadRef?: { readonly name?: unknown } | null;
}

const longestName = 253;

/** v1.35 has `workloadRef` in its place. A server whose gate GenericWorkload is off keeps neither. */
function groupOf({ pod: { spec } }: PodInfo): string | undefined {
  const { schedulingGroup, workloadRef } = (spec ?? {}) as MembersOfGroups;
  if (schedulingGroup != null) return `the pod group ${nameIn(schedulingGroup.podGroupName)}`;
  return workloadRef == null ? undefined : `the workload ${nameIn(workloadRef.name)}`;
}

function nameIn(name: unknown): string {
  return typeof name === 'string' ? JSON.stringify(name.slice(0, longestName)) : '(without a name)';
}

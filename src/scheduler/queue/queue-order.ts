import type { Before } from '../../base/concurrency/keyed-heap.ts';
import { invalidOption } from '../../base/errors.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { pluginsAt } from '../framework/extension-points.ts';
import type { ProfilePlugins } from '../framework/handle.ts';
import type { QueuedPod } from '../framework/plugin.ts';

/**
 * The order of the active queue: that of the plugin with `less`. All profiles share one queue, so each must have one such plugin, and all of
 * them one of the same name. Where it fails, the pod that waits longer comes first.
 */
export function queueOrder(profiles: readonly ProfilePlugins[], logger: Logger): Before<QueuedPod> {
  const sorting = profiles.map((profile) => {
    const plugins = pluginsAt(profile, 'queueSort');
    const [plugin] = plugins;
    if (plugin !== undefined && plugins.length === 1) return plugin;
    const names = plugins.map(({ name }) => name).join(', ');
    throw invalidOption(`plugins of ${profile.schedulerName}`, 'exactly one of them with `less`, which sorts the queue', names);
  });
  const [first] = sorting;
  if (first === undefined) throw invalidOption('profiles', 'at least one profile', profiles);
  const other = sorting.find(({ name }) => name !== first.name);
  if (other !== undefined)
    throw invalidOption('profiles', `a list of profiles that all sort the queue with ${first.name}`, other.name);
  const onFailure = (err: unknown): void => logger.error({ err, plugin: first.name }, 'the plugin that sorts the queue failed');
  return (one, two) => {
    const answer: unknown = callGuarded(() => first.less(one, two), onFailure);
    return typeof answer === 'boolean' ? answer : one.timestamp < two.timestamp;
  };
}

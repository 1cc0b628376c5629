import { errorText } from '../../base/errors.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { asRejection } from '../framework/answers.ts';
import type { PluginAt } from '../framework/extension-points.ts';
import { pluginFailure } from '../framework/plugin-error.ts';
import type { Rejection } from '../framework/status.ts';
import { podFields } from '../nodes/log-fields.ts';
import type { QueueEntry } from './queued-pod-info.ts';

/** A plugin that may keep pods from being tried. */
export type GatingPlugin = PluginAt<'preEnqueue'>;

/**
 * Asks the plugins whether the pod may be tried, first the one that gates it, and notes the answer in the entry. A plugin that fails, or
 * answers with a promise, keeps the pod: it said nothing that allows it.
 */
export function askGates(entry: QueueEntry, plugins: readonly GatingPlugin[], logger: Logger): void {
  const gating = plugins.find(({ name }) => name === entry.gatedBy);
  for (const plugin of gating === undefined ? plugins : [gating, ...plugins.filter((one) => one !== gating)]) {
    const rejection = askOne(plugin, entry, logger);
    if (rejection === undefined) continue;
    entry.unschedulablePlugins.add(plugin.name);
    entry.gatedBy = plugin.name;
    entry.gate = rejection;
    return;
  }
  entry.gatedBy = undefined;
  entry.gate = undefined;
}

function askOne(plugin: GatingPlugin, { podInfo }: QueueEntry, logger: Logger): Rejection | undefined {
  try {
    const answer: unknown = plugin.preEnqueue(podInfo.pod);
    return answer === undefined ? undefined : asRejection(plugin.name, 'preEnqueue', answer);
  } catch (error) {
    const err = pluginFailure(plugin.name, 'preEnqueue', error);
    logger.error(
      { err, plugin: plugin.name, ...podFields(podInfo) },
      'a plugin could not say whether a pod may be tried; the pod waits',
    );
    return { code: 'UnschedulableAndUnresolvable', reasons: [errorText(err)] };
  }
}

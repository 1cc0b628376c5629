import { errorText } from '../../seams/error-text.ts';
import { callGuarded, isThenable } from '../../seams/guard.ts';
import type { Logger } from '../../seams/logger.ts';
import type { Plugin } from '../framework/plugin.ts';
import type { Rejection } from '../framework/status.ts';
import type { QueueEntry } from './queued-pod-info.ts';

/**
 * Asks the plugins whether the pod may be tried, first the one that gates it, and notes the answer in the entry. A plugin that fails, or
 * answers with a promise, keeps the pod: it said nothing that allows it.
 */
export function askGates(entry: QueueEntry, plugins: readonly Plugin[], logger: Logger): void {
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

function askOne(plugin: Plugin, { podInfo }: QueueEntry, logger: Logger): Rejection | undefined {
  let failure: unknown;
  let hasFailed = false;
  const fail = (error: unknown): void => {
    failure = error;
    hasFailed = true;
  };
  const answer: unknown = callGuarded(() => plugin.preEnqueue?.(podInfo.pod), fail);
  if (isThenable(answer)) fail(new TypeError('preEnqueue must answer at once, not with a promise'));
  if (!hasFailed) return answer as Rejection | undefined;
  logger.error(
    { err: failure, plugin: plugin.name, pod: podInfo.key },
    'A plugin could not say whether a pod may be scheduled; it waits',
  );
  return { code: 'UnschedulableAndUnresolvable', reasons: [`the plugin ${plugin.name} failed: ${errorText(failure)}`] };
}

import { StatusManagerError, shownValue } from '../../base/errors.ts';
import { catchRejection, ignoreFailure, isThenable } from '../../base/guard.ts';
import type { ExtensionPoint, PluginRejection, RejectionCode } from './plugin.ts';

/**
 * A plugin of the scheduler threw, or answered what it must not; code ERR_PLUGIN. It ends the attempt of one pod, which is
 * tried again. `cause` holds what the plugin threw.
 *
 * @example
 * ```ts
 * import { PluginError } from 'pod-status-manager/scheduler';
 *
 * const error = new PluginError('MyPlugin', 'filter', 'no idea');
 * console.log(error.code, error.plugin, error.extensionPoint); // ERR_PLUGIN MyPlugin filter
 * console.log(error.message); // The scheduler's plugin MyPlugin failed in filter: no idea
 * ```
 */
export class PluginError extends StatusManagerError {
  /** The name of the plugin that failed. */
  readonly plugin: string;
  /** Where it failed. */
  readonly extensionPoint: ExtensionPoint;

  constructor(plugin: string, extensionPoint: ExtensionPoint, what: string, options?: ErrorOptions) {
    super('ERR_PLUGIN', `The scheduler's plugin ${plugin} failed in ${extensionPoint}: ${what}`, options);
    this.name = 'PluginError';
    this.plugin = plugin;
    this.extensionPoint = extensionPoint;
  }
}

/** For what a plugin threw. An error that already names its plugin stays as it is. */
export function pluginFailure(plugin: string, point: ExtensionPoint, error: unknown): PluginError {
  if (error instanceof PluginError) return error;
  return new PluginError(plugin, point, error instanceof Error ? error.message : shownValue(error), { cause: error });
}

/** For an answer that breaks the rule. A promise's rejection is caught, so that it cannot end the process. */
export function wrongAnswer(plugin: string, point: ExtensionPoint, rule: string, answer: unknown): PluginError {
  if (isThenable(answer)) {
    catchRejection(answer, ignoreFailure);
    return new PluginError(plugin, point, 'it returned a promise where the scheduler does not wait');
  }
  return new PluginError(plugin, point, `expected it to return ${rule}, got ${shownValue(answer)}`);
}

const codes: readonly (RejectionCode | undefined)[] = ['Unschedulable', 'UnschedulableAndUnresolvable', 'Pending'];
const rule = 'undefined or a rejection (code and reasons)';

/** What a plugin answered that is not undefined, as a rejection with the plugin's name. Throws PluginError for anything else. */
export function asRejection(plugin: string, point: ExtensionPoint, answer: unknown): PluginRejection {
  const { code, reasons } = (answer ?? {}) as Partial<PluginRejection>;
  if (code === undefined || !codes.includes(code) || !Array.isArray(reasons)) throw wrongAnswer(plugin, point, rule, answer);
  return { plugin, code, reasons };
}

/** What is to be done about a plugin that throws, or answers what it must not. */
export function helpForPlugin(plugin: string, next = 'the next attempt'): string {
  const which = plugin === '' ? 'the profile' : `the plugin ${plugin}, or take it out of the profile`;
  return `Correct ${which}: it is asked again at ${next}.`;
}

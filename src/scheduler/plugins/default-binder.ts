import type { PluginHandle } from '../framework/handle.ts';
import type { Plugin } from '../framework/plugin.ts';

/** Binds every pod through the scheduler's client. */
export function defaultBinder(handle: PluginHandle): Plugin {
  return {
    name: 'DefaultBinder',
    async bind(_state, { pod }, nodeName, signal) {
      await handle.client.bind(pod, nodeName, signal);
      return 'bound';
    },
  };
}

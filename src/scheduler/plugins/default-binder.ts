import type { PluginHandle } from '../framework/handle.ts';
import type { Plugin } from '../framework/plugin.ts';
import { refuseArgs } from './common/refuse-args.ts';

/** Binds every pod through the scheduler's client. No arguments. */
export function defaultBinder(args: unknown, handle: PluginHandle): Plugin {
  refuseArgs('DefaultBinder', args);
  return {
    name: 'DefaultBinder',
    async bind(_state, { pod }, nodeName, signal) {
      await handle.client.bind(pod, nodeName, signal);
      return 'bound';
    },
  };
}

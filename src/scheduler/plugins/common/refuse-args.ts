import { requireKnownOptions } from '../../../base/options.ts';

/** For a plugin without arguments: throws ERR_INVALID_OPTION for any. */
export function refuseArgs(plugin: string, args: unknown): void {
  requireKnownOptions(plugin, args ?? {}, ['apiVersion', 'kind']);
}

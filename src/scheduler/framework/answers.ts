import type { ExtensionPoint } from './extension-points.ts';
import { wrongAnswer } from './plugin-error.ts';
import type { PluginRejection, RejectionCode } from './status.ts';

const codes: readonly (RejectionCode | undefined)[] = ['Unschedulable', 'UnschedulableAndUnresolvable', 'Pending'];
const rule = 'undefined or a rejection (code and reasons)';

/** What a plugin answered that is not undefined, as a rejection with the plugin's name. Throws PluginError for anything else. */
export function asRejection(plugin: string, point: ExtensionPoint, answer: unknown): PluginRejection {
  const { code, reasons } = (answer ?? {}) as Partial<PluginRejection>;
  if (code === undefined || !codes.includes(code) || !Array.isArray(reasons)) throw wrongAnswer(plugin, point, rule, answer);
  return { plugin, code, reasons };
}

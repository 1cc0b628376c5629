import type { ProfilePlugins } from './handle.ts';
import type { Plugin } from './plugin.ts';

/** The name of a point at which plugins take part. */
export type ExtensionPoint =
  | 'preEnqueue'
  | 'queueSort'
  | 'preFilter'
  | 'filter'
  | 'postFilter'
  | 'preScore'
  | 'score'
  | 'reserve'
  | 'permit'
  | 'preBind'
  | 'bind'
  | 'postBind';

/** The points at which plugins take part, in the order in which a pod meets them, with the method of the plugin. */
export const extensionPoints = {
  preEnqueue: 'preEnqueue',
  queueSort: 'less',
  preFilter: 'preFilter',
  filter: 'filter',
  postFilter: 'postFilter',
  preScore: 'preScore',
  score: 'score',
  reserve: 'reserve',
  permit: 'permit',
  preBind: 'preBind',
  bind: 'bind',
  postBind: 'postBind',
} as const satisfies Record<ExtensionPoint, keyof Plugin>;

/** A plugin that has the method of this point. */
export type PluginAt<Point extends ExtensionPoint> = Plugin & Required<Pick<Plugin, (typeof extensionPoints)[Point]>>;

/** The plugins that take part at one point, in their order. */
export function pluginsAt<Point extends ExtensionPoint>(profile: ProfilePlugins, point: Point): readonly PluginAt<Point>[] {
  const method = extensionPoints[point];
  const takesPart = (plugin: Plugin): plugin is PluginAt<Point> => typeof plugin[method] === 'function';
  return (profile.points?.[point] ?? profile.plugins).filter(takesPart);
}

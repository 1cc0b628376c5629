import type { WireNode } from '../../../src/api/json/types.ts';
import { Framework } from '../../../src/scheduler/framework/framework.ts';
import type { Plugin, PluginHandle, ProfilePlugins } from '../../../src/scheduler/framework/plugin.ts';
import type { NodeInfo, Snapshot } from '../../../src/scheduler/nodes/node-info.ts';
import { createPodInfo, type PodInfo } from '../../../src/scheduler/nodes/pod-info.ts';
import { frameworkContext } from '../../support/framework-context.ts';
import { createNodeInfo, nodeSnapshotOf } from '../../support/node-snapshots.ts';
import { barePod } from '../../support/pods.ts';

/** A pod with this name and spec. */
export function podInfo(name: string, spec: object = {}, status: object = {}): PodInfo {
  const metadata = { name, namespace: 'd', uid: `u-${name}` };
  return createPodInfo(barePod({ metadata, spec: { containers: [], ...spec }, status }));
}

/** A node with room for ten pods. */
export function nodeInfo(name: string, node: Partial<WireNode> = {}, pods: readonly PodInfo[] = []): NodeInfo {
  const status = { allocatable: { pods: '10' }, ...node.status };
  return createNodeInfo({ ...node, metadata: { name, ...node.metadata }, status } as WireNode, pods);
}

export interface WorldOptions extends Partial<Omit<ProfilePlugins, 'plugins'>> {
  readonly nodes?: readonly NodeInfo[];
  readonly nominated?: Readonly<Record<string, readonly PodInfo[]>>;
  readonly random?: () => number;
  readonly onFailure?: (error: unknown) => void;
}

/** A framework with these plugins, on these nodes: by default `n1`, `n2` and `n3`. */
export function frameworkWith(
  plugins: readonly Plugin[] | ((handle: PluginHandle) => readonly Plugin[]),
  { nodes = ['n1', 'n2', 'n3'].map((name) => nodeInfo(name)), nominated = {}, random, onFailure, ...profile }: WorldOptions = {},
): Framework {
  const snapshot: Snapshot = nodeSnapshotOf(nodes);
  return new Framework(
    frameworkContext({
      snapshot: () => snapshot,
      nominated: { onNode: (name) => nominated[name] ?? [] },
      ...(random && { random }),
      ...(onFailure && { onFailure }),
    }),
    (handle) => ({
      schedulerName: 'test',
      weights: new Map(),
      ...profile,
      plugins: typeof plugins === 'function' ? plugins(handle) : plugins,
    }),
  );
}

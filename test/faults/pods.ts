import {
  buildCondition,
  buildContainerStatus,
  buildRunningStatus,
  buildTerminatedState,
} from '../../src/testing/fakes/builders.ts';
import type { WirePod, WirePodStatus } from '../../src/wire/types.ts';

export const nodeName = 'fault-node';

/** `count` pods, each tenth of them a static one. */
export function podNames(count: number): { ordinary: string[]; fixed: string[] } {
  const names = Array.from({ length: count }, (_, i) => ({ name: `pod-${String(i).padStart(3, '0')}`, fixed: i % 10 === 9 }));
  return {
    ordinary: names.filter(({ fixed }) => !fixed).map(({ name }) => name),
    fixed: names.filter(({ fixed }) => fixed).map(({ name }) => `${name}-${nodeName}`),
  };
}

/** An ordinary pod as a user creates it, bound to the node. */
export function podManifest(name: string): WirePod {
  const containers = [{ name: 'app', image: 'example.test/app:1' }];
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { nodeName, containers } };
}

/** The agent's own pod from a file; its mirror has the same hash. */
export function staticPod(namespace: string, name: string): WirePod {
  const manifest = podManifest(name);
  const annotations = { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.hash': `hash-of-${name}` };
  return { ...manifest, metadata: { name, namespace, uid: `hash-of-${name}`, annotations } };
}

export function mirrorManifest(name: string): WirePod {
  const hash = `hash-of-${name}`;
  const annotations = {
    'kubernetes.io/config.source': 'file',
    'kubernetes.io/config.hash': hash,
    'kubernetes.io/config.mirror': hash,
  };
  return { ...podManifest(name), metadata: { name, annotations } };
}

/** The status of a pod that runs. The mark stands in it twice, so that a mixture of two statuses shows. */
export function markedStatus(pod: WirePod, mark: number, { ready, ended }: { ready: boolean; ended: boolean }): WirePodStatus {
  const status = buildRunningStatus(pod);
  const isReady = ready && !ended ? 'True' : 'False';
  const state = ended ? { state: buildTerminatedState(mark % 2) } : {};
  return {
    ...status,
    message: `mark ${mark}`,
    conditions: [
      buildCondition('Initialized'),
      buildCondition('Ready', { status: isReady }),
      buildCondition('ContainersReady', { status: isReady }),
      buildCondition('PodScheduled'),
    ],
    containerStatuses: [
      buildContainerStatus({ name: 'app', restartCount: mark, ready: isReady === 'True', started: !ended, ...state }),
    ],
  };
}

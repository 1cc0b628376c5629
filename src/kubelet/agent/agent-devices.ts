import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { SyncLoop } from '../../node/workers/sync-loop.ts';
import type { BasicPodManager } from '../../status/pods/basic-pod-manager.ts';
import type { DeviceManagerOptions } from '../devices/device-manager.ts';
import type { PodResourcesServiceOptions } from '../devices/pod-resources-service.ts';
import type { AgentPodStatus } from '../pleg/agent-status.ts';
import type { PodLifecycle } from '../pleg/pod-lifecycle.ts';
import type { AgentNode } from './agent-node.ts';

/** The parts of the agent that devices need. Those that are made later are asked when they are there. */
interface DeviceParts {
  readonly options: { readonly podManager: Pick<BasicPodManager, 'getPods' | 'getPodByName'> };
  readonly pleg: Pick<PodLifecycle, 'get' | 'getNewerThan'>;
  readonly loop: Pick<SyncLoop, 'sourcesReady' | 'podChanged'>;
  readonly node: Pick<AgentNode, 'resourcesChanged'>;
  /** The pods that are not over. */
  readonly activePods: () => readonly Pod[];
}

/** What devices need of the agent. */
export type DeviceNeeds = Pick<DeviceManagerOptions, 'sourcesReady' | 'runs' | 'holders' | 'nodeChanged' | 'podChanged'> &
  Pick<PodResourcesServiceOptions, 'activePods' | 'allPods' | 'podByName'>;

export function deviceNeeds(parts: DeviceParts): DeviceNeeds {
  const { podManager } = parts.options;
  return {
    activePods: () => parts.activePods(),
    allPods: () => podManager.getPods(),
    podByName: (namespace, name) => podManager.getPodByName(namespace, name),
    sourcesReady: () => parts.loop.sourcesReady(),
    // where the runtime cannot say: a container that runs has its devices, and one that does not gets them before it is made
    runs: async (podUID, signal) => {
      const status = await parts.pleg.getNewerThan(podUID, 0, signal).catch(ignoreFailure);
      signal.throwIfAborted();
      return runsAny(status ?? undefined);
    },
    holders: () => {
      if (!parts.loop.sourcesReady()) return undefined;
      const active = new Set(parts.activePods().map(podUIDOf));
      const known = (podUID: string) => callGuarded(() => parts.pleg.get(podUID), ignoreFailure);
      return (podUID) => {
        if (active.has(podUID)) return 'holds';
        return runsAny(known(podUID)) ? 'ends' : 'gone';
      };
    },
    nodeChanged: () => parts.node.resourcesChanged(),
    podChanged: (podUID) => parts.loop.podChanged(podUID),
  };
}

/** True also where nobody knows. */
function runsAny(status: AgentPodStatus | undefined): boolean {
  return status?.containers.some(({ state }) => state === 'running') ?? true;
}

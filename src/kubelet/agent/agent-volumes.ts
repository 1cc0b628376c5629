import { rejectionsOf, throwAll } from '../../base/errors.ts';
import type { ClaimedUsage } from '../claims/claim-usage.ts';
import { ClaimVolumes } from '../claims/claim-volumes.ts';
import { FileSystemProbes } from '../claims/file-system-probes.ts';
import { hostPathClaims } from '../claims/host-path-claims.ts';
import { LocalClaims } from '../claims/local-claims.ts';
import { MountTurns } from '../claims/mount-turns.ts';
import { NfsClaims } from '../claims/nfs-claims.ts';
import type { PersistentVolumeKind } from '../claims/persistent-volume-kind.ts';
import type { MountSettings } from '../containers/container-mounts.ts';
import { type DriverVolumes, requireNoDriverVolumes } from '../volumes/driver-volumes.ts';
import type { Mounter } from '../volumes/mounter.ts';
import { driverVolumesFolder } from '../volumes/pod-folder.ts';
import type { AgentClients } from './agent-clients.ts';
import type { AgentNode } from './agent-node.ts';
import type { AgentPlugins } from './agent-plugins.ts';
import { subPathsAtOnce, subPathsOf } from './agent-sub-paths.ts';
import type { ResolvedAgentOptions } from './node-agent-options.ts';

interface DriverNeeds {
  readonly clients: Pick<AgentClients, 'kubeClient' | 'eventRecorder'>;
  readonly node: Pick<AgentNode, 'known'>;
  readonly plugins: AgentPlugins | undefined;
}

/** The volumes of drivers and claims, how full those of claims are, and parts of volumes. */
export interface AgentVolumes extends DriverVolumes {
  readonly prepareSubPath: MountSettings['prepareSubPath'];
  usages(podUID: string): Promise<readonly ClaimedUsage[]>;
}

/** Makes the volumes that are claimed, and those of storage drivers where the agent speaks with plugins. */
export function newDriverVolumes(agent: ResolvedAgentOptions, needs: DriverNeeds, mounter: Mounter): AgentVolumes {
  const { clients, node, plugins } = needs;
  const { settings, clock, logger } = agent;
  const { rootDirectory } = settings;
  const { kubeClient: transport, eventRecorder } = clients;
  const { ask } = plugins?.storage.fileSystems ?? new FileSystemProbes({ rootDirectory, logger });
  const mountTurns = plugins?.storage.mountTurns ?? new MountTurns({ clock, ask, logger });
  const local = new LocalClaims({ rootDirectory, mounter, mountTurns, askFileSystem: ask, clock, eventRecorder, logger });
  const kinds = new Map<string, PersistentVolumeKind>([
    ['hostPath', hostPathClaims],
    ['local', local],
    ['nfs', new NfsClaims({ mounter, askFileSystem: ask, clock })],
  ]);
  if (plugins !== undefined) kinds.set('csi', plugins.storage.persistentVolumes);
  const claims = new ClaimVolumes({ transport, kinds, node: () => node.known(), rootDirectory, clock });
  // of their own: a pod's author makes as many as the pod has, and volumes and groups of files wait for none of them
  const subPathTurns = new MountTurns({ clock, ask, mostOverall: subPathsAtOnce(process.env.UV_THREADPOOL_SIZE), logger });
  const prepareSubPath = subPathsOf({ rootDirectory, mounter, mountTurns: subPathTurns });
  return { ...withInline(claims, plugins?.storage.inline ?? noPlugins), prepareSubPath };
}

const noPlugins: DriverVolumes = {
  mount: async () => {
    throw new Error('volume type csi is not supported by this agent: it speaks with no plugins');
  },
  unmount: (_, volumesFolder) => requireNoDriverVolumes(volumesFolder, driverVolumesFolder),
};

/** Volumes of drivers stand in the pod's spec, or are claimed. */
function withInline(claims: ClaimVolumes, inline: DriverVolumes): Omit<AgentVolumes, 'prepareSubPath'> {
  return {
    usages: (podUID) => claims.usages(podUID),
    mount: (request) => (request.volume.csi == null ? claims : inline).mount(request),
    async unmount(podUID, volumesFolder) {
      // what one cannot take back keeps nothing of the other
      const all = await Promise.allSettled([claims.unmount(podUID, volumesFolder)]);
      all.push(...(await Promise.allSettled([inline.unmount(podUID, volumesFolder)])));
      throwAll(rejectionsOf(all));
    },
  };
}

// Behaviour of pkg/kubelet/kubelet_pods.go makeMounts and kuberuntime makeMounts, v1.36.3.

import { isAbsolute, join } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import { expanded } from '../../api/pod/expansion.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import type { Mount } from '../runtime/runtime-containers.ts';
import type { PodVolumes } from '../volumes/pod-folder.ts';
import { ContainerConfigError } from './config-error.ts';
import type { ResolvedContainerConfigs } from './container-configs-options.ts';
import { type Environment, pathLimit, textOf } from './environment.ts';
import { readAtMost } from './environment-file.ts';
import { makeTerminationLog, volumeMounts, writeHostsFile } from './mounts.ts';
import { managedHosts, nodeHosts, podHostname } from './pod-hosts.ts';

/** Whose mounts are made, and from what. */
export interface MountsRequest {
  readonly pod: Pod;
  readonly container: Container;
  readonly runtimeHandler: string;
  readonly volumes: PodVolumes;
  readonly podIPs: readonly string[];
  readonly environment: Environment;
}

const etcHosts = '/etc/hosts';
const mostHostsBytes = 1024 * 1024;

/** All that a container sees of the node: volumes, the pod's hosts file, and the file for why the container ends. */
export async function containerMounts(
  request: MountsRequest,
  options: ResolvedContainerConfigs,
  signal: AbortSignal,
): Promise<readonly Mount[]> {
  const { pod, container, volumes, runtimeHandler } = request;
  const mounts = [
    ...(await volumeMounts(container, {
      volumes,
      expandPath: (expression) => expandedPath(request, expression),
      prepareSubPath: (part) => options.prepareSubPath(pod, part, signal),
      recursiveReadOnly: options.recursiveReadOnly(runtimeHandler),
    })),
    ...(await hostsMount(request, options)),
    ...(await terminationMount(request, options)),
  ];
  return options.selinux ? mounts : mounts.map((mount) => ({ ...mount, selinuxRelabel: false }));
}

/** Names without a value are an error: the path would be another one. */
function expandedPath({ container, environment }: MountsRequest, expression: string): string {
  const missing = new Set<string>();
  const lookUp = (name: string) => {
    const value = textOf(environment, name) ?? '';
    if (value === '') missing.add(name);
    return value;
  };
  const path = expanded(expression, lookUp, pathLimit(container.name));
  if (missing.size > 0) throw new ContainerConfigError(`missing value for ${[...missing].sort().join(', ')}`);
  return path;
}

async function hostsMount(
  { pod, container, podIPs }: MountsRequest,
  options: ResolvedContainerConfigs,
): Promise<readonly Mount[]> {
  const isOnNode = pod.spec?.hostNetwork === true;
  if (podIPs.length === 0 && !isOnNode) return [];
  if (container.volumeMounts?.some(({ mountPath }) => mountPath === etcHosts)) return [];
  const content = isOnNode
    ? nodeHosts(pod, await readAtMost(options.hostsFile, mostHostsBytes))
    : managedHosts(pod, podIPs, podHostname(pod, options.clusterDomain));
  const hostPath = await writeHostsFile(options.rootDirectory, podUIDOf(pod), content);
  return [fileMount(etcHosts, hostPath)];
}

async function terminationMount(
  { pod, container }: MountsRequest,
  { rootDirectory, random }: ResolvedContainerConfigs,
): Promise<readonly Mount[]> {
  const path = container.terminationMessagePath;
  if (!path) return [];
  const fileName = Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0');
  const hostPath = await makeTerminationLog(rootDirectory, podUIDOf(pod), container.name, fileName);
  return [fileMount(isAbsolute(path) ? path : join('/', path), hostPath)];
}

function fileMount(containerPath: string, hostPath: string): Mount {
  return { containerPath, hostPath, readonly: false, selinuxRelabel: true, propagation: 'private' };
}

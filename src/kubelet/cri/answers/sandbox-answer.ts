import type { PodSandboxDetails, PodSandboxMetadata, PodSandboxRecord } from '../../runtime/runtime-sandboxes.ts';
import type { NamespaceMode as ModeName, NamespaceOptions } from '../../runtime/security.ts';
import {
  NamespaceMode,
  type NamespaceOption,
  type PodSandbox,
  type PodSandboxMetadata as PodSandboxMetadataAnswer,
  type PodSandboxNetworkStatus,
  PodSandboxState,
  type PodSandboxStatus,
} from '../proto/api_pb.ts';
import { msOf } from './numbers.ts';

/** A sandbox as a list has it. */
export function sandboxRecord(answer: PodSandbox | PodSandboxStatus): PodSandboxRecord {
  const { id, labels, annotations, runtimeHandler } = answer;
  return {
    id,
    metadata: sandboxMetadataOf(answer.metadata),
    state: answer.state === PodSandboxState.SANDBOX_READY ? 'ready' : 'notready',
    createdAt: msOf(answer.createdAt),
    labels,
    annotations,
    runtimeHandler,
  };
}

/** A sandbox with its network. */
export function sandboxDetails(answer: PodSandboxStatus): PodSandboxDetails {
  const namespaces = answer.linux?.namespaces?.options;
  return {
    ...sandboxRecord(answer),
    ips: addressesOf(answer.network),
    ...(namespaces && { namespaces: namespacesOf(namespaces) }),
  };
}

function sandboxMetadataOf(answer: PodSandboxMetadataAnswer | undefined): PodSandboxMetadata {
  const { name = '', uid = '', namespace = '', attempt = 0 } = answer ?? {};
  return { name, uid, namespace, attempt };
}

function addressesOf(network: PodSandboxNetworkStatus | undefined): string[] {
  if (network === undefined) return [];
  return [network.ip, ...network.additionalIps.map(({ ip }) => ip)].filter((ip) => ip !== '');
}

function namespacesOf({ network, pid, ipc, targetId }: NamespaceOption): NamespaceOptions {
  return {
    network: modeOf(network),
    pid: modeOf(pid),
    ipc: modeOf(ipc),
    ...(targetId !== '' && { targetID: targetId }),
  };
}

function modeOf(mode: NamespaceMode): ModeName {
  if (mode === NamespaceMode.NODE) return 'node';
  if (mode === NamespaceMode.CONTAINER) return 'container';
  return mode === NamespaceMode.TARGET ? 'target' : 'pod';
}

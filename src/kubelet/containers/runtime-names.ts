// Behaviour of pkg/kubelet/kuberuntime/labels.go and helpers.go, v1.36.3.
import { join } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { type PortMapping, runtimeAnnotations, runtimeLabels } from '../runtime/runtime-sandboxes.ts';

type Names = Readonly<Record<string, string>>;

/** The labels of a pod's sandbox: the pod's own, and those that it is found by. */
export function sandboxLabels(pod: Pod): Names {
  return { ...pod.metadata?.labels, ...podNames(pod) };
}

/** The labels by which a container is found. */
export function containerLabels(pod: Pod, container: Container): Names {
  return { ...podNames(pod), [runtimeLabels.containerName]: container.name };
}

function podNames({ metadata }: Pod): Names {
  return {
    [runtimeLabels.podName]: metadata?.name ?? '',
    [runtimeLabels.podNamespace]: metadata?.namespace ?? '',
    [runtimeLabels.podUID]: metadata?.uid ?? '',
  };
}

/** What is kept with a container, so that it can be ended and told of when its pod is known no longer. */
export function containerAnnotations(pod: Pod, container: Container, restartCount: number): Names {
  const { deletionGracePeriodSeconds } = pod.metadata ?? {};
  const gracePeriod = pod.spec?.terminationGracePeriodSeconds;
  const preStop = container.lifecycle?.preStop;
  return {
    [runtimeAnnotations.containerHash]: containerHash(container),
    [runtimeAnnotations.restartCount]: String(restartCount),
    [runtimeAnnotations.terminationMessagePath]: container.terminationMessagePath ?? '',
    [runtimeAnnotations.terminationMessagePolicy]: container.terminationMessagePolicy ?? '',
    ...(isNumber(deletionGracePeriodSeconds) && {
      [runtimeAnnotations.podDeletionGracePeriod]: String(deletionGracePeriodSeconds),
    }),
    ...(isNumber(gracePeriod) && { [runtimeAnnotations.podTerminationGracePeriod]: String(gracePeriod) }),
    ...(preStop && { [runtimeAnnotations.preStopHandler]: JSON.stringify(preStop) }),
    ...(container.ports?.length && { [runtimeAnnotations.ports]: JSON.stringify(container.ports) }),
  };
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

/** The folder of a pod's log files. */
export function podLogDirectory(podLogsDirectory: string, { metadata }: Pod): string {
  return join(podLogsDirectory, `${metadata?.namespace ?? ''}_${metadata?.name ?? ''}_${metadata?.uid ?? ''}`);
}

/** A container's log file, seen from the folder of its pod. */
export function containerLogPath(containerName: string, restartCount: number): string {
  return join(containerName, `${restartCount}.log`);
}

// Behaviour of pkg/kubelet/container HashContainer, v1.36.3.

const offset = 0x811c9dc5;
const prime = 0x01000193;
/** What Go writes in JSON text as an escape, beyond what JavaScript does. */
const escapedByGo = /[<>&\u2028\u2029]/g;

/**
 * What a container's name and image come to: another hash means that the container has to be made anew. The kubelet gives the
 * same container the same hash.
 */
export function containerHash({ name, image }: Pick<Container, 'name' | 'image'>): string {
  const json = JSON.stringify({ image: image ?? '', name }).replace(
    escapedByGo,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return fnv32a(`([]uint8)[${Buffer.from(json).join(' ')}]`).toString(16);
}

function fnv32a(text: string): number {
  let hash = offset;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, prime);
  return hash >>> 0;
}

// Behaviour of pkg/kubelet/container MakePortMappings and kuberuntime generatePodSandboxConfig, v1.36.3.

/** The ports of the pod's regular containers, each name or number of a container once. */
export function portMappings({ spec }: Pod): readonly PortMapping[] {
  return (spec?.containers ?? []).flatMap(containerMappings);
}

function containerMappings({ ports }: Container): readonly PortMapping[] {
  const mappings = new Map<string, PortMapping>();
  for (const { name, protocol, containerPort, hostPort = 0, hostIP = '' } of ports ?? []) {
    const family = hostIP === '' ? 'any' : hostIP.includes(':') ? 'v6' : 'v4';
    const key = name || `${family}-${protocol ?? ''}-${hostIP}:${containerPort}:${hostPort}`;
    if (mappings.has(key)) continue;
    mappings.set(key, {
      protocol: protocol === 'UDP' || protocol === 'SCTP' ? protocol : 'TCP',
      containerPort,
      hostPort,
      hostIP,
    });
  }
  return [...mappings.values()];
}

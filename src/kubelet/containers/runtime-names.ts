// Behaviour of pkg/kubelet/kuberuntime/labels.go and helpers.go, v1.36.3.
import { join } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { runtimeAnnotations, runtimeLabels } from '../runtime/runtime-labels.ts';
import { containerHash } from './container-hash.ts';

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

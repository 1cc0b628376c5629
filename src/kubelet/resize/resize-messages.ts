// Behaviour of pkg/kubelet/events/resize.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { wireResources } from '../../node/pod-status/pod-resources.ts';

/** Reasons of events about a resize. */
export const resizeEvent = {
  started: 'ResizeStarted',
  completed: 'ResizeCompleted',
  deferred: 'ResizeDeferred',
  infeasible: 'ResizeInfeasible',
  error: 'ResizeError',
} as const;

/** A sentence and, as JSON, what the pod's containers are to have. */
export function resizeMessage(what: string, { spec }: Pod, generation: number, error = ''): string {
  const summary = {
    ...(spec?.initContainers?.length && { initContainers: spec.initContainers.map(summaryOf) }),
    ...(spec?.containers?.length && { containers: spec.containers.map(summaryOf) }),
    generation,
    ...(error && { error }),
  };
  return `${what}: ${JSON.stringify(summary)}`;
}

function summaryOf({ name, resources }: Container): object {
  const { limits, requests, claims } = wireResources(resources);
  return {
    name,
    resources: {
      ...(limits && { limits: sorted(limits) }),
      ...(requests && { requests: sorted(requests) }),
      ...(claims && { claims }),
    },
  };
}

function sorted(quantities: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(quantities).sort(([a], [b]) => (a < b ? -1 : 1)));
}

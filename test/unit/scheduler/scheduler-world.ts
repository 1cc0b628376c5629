import type { WireNode, WirePod } from '../../../src/api/json/types.ts';
import { Scheduler, type SchedulerClient, type SchedulerOptions } from '../../../src/scheduler.ts';
import { FakeClock } from '../../../src/testing.ts';
import { type BareParts, barePod } from '../../support/pods.ts';

export function node(name: string, cpu = '4'): WireNode {
  return { metadata: { name }, status: { allocatable: { cpu, memory: '8Gi', pods: '110' } } };
}

export function pod(name: string, cpu = '1', more: BareParts['spec'] = {}): WirePod {
  const containers = [{ name: 'app', image: 'app:1', resources: { requests: { cpu } } }];
  const metadata = { name, uid: `uid-${name}`, resourceVersion: '1' };
  return barePod({ metadata, spec: { schedulerName: 'default-scheduler', containers, ...more } });
}

export interface Binding {
  readonly name: string;
  readonly nodeName: string;
  readonly signal: AbortSignal;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** A scheduler in virtual time whose client notes what it is asked for; bindings succeed at once unless `holds`. */
export function schedulerWorld(options: Partial<SchedulerOptions> = {}, holds = false, more: Partial<SchedulerClient> = {}) {
  const clock = new FakeClock();
  const told: string[] = [];
  const bindings: Binding[] = [];
  const scheduler = new Scheduler({
    client: {
      bind: ({ metadata }, nodeName, signal) => {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        bindings.push({ name: metadata?.name ?? '', nodeName, signal, resolve, reject });
        told.push(`bind ${metadata?.name} ${nodeName}`);
        if (!holds) resolve();
        return promise;
      },
      patchStatus: async ({ metadata }, { condition, nominatedNodeName }) => {
        told.push(`status ${metadata?.name} ${condition?.reason ?? ''} ${nominatedNodeName ?? ''}`.trim());
      },
      deletePod: async ({ metadata }) => {
        told.push(`delete ${metadata?.name}`);
      },
      event: (event) => told.push(`${event.reason} ${event.pod.metadata?.name}: ${event.note}`),
      ...more,
    },
    ...{ clock, random: () => 0, logger: null, ...options },
  });
  return { clock, told, bindings, scheduler };
}

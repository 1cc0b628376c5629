import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createServer2 } from 'node:https';
import { describe, expectTypeOf, it } from 'vitest';
import {
  createDebugHandler,
  type DebugFleetSource,
  type DebugHandler,
  type DebugManager,
  type DebugNodeSource,
  type DebugSchedulerSource,
} from '../../src/debug.ts';
import type { NodeFleet } from '../../src/fleet.ts';
import type { PodStatusAgent, StatusManager } from '../../src/index.ts';
import type { NodeAgent } from '../../src/kubelet.ts';
import type { ProviderNode } from '../../src/node.ts';
import type { ClusterScheduler, Scheduler } from '../../src/scheduler.ts';

declare const manager: StatusManager;
declare const node: ProviderNode;

describe('createDebugHandler', () => {
  it('takes a status manager, and a provider node or what answers like one', () => {
    expectTypeOf<StatusManager>().toExtend<DebugManager>();
    expectTypeOf<ProviderNode>().toExtend<DebugNodeSource>();
    expectTypeOf<NodeAgent>().toExtend<DebugNodeSource>();
    expectTypeOf<PodStatusAgent>().toExtend<DebugNodeSource>();
    expectTypeOf(createDebugHandler({ manager, node })).toEqualTypeOf<DebugHandler>();
    const head = { nodeName: 'n', state: 'running', ready: true, registered: true, notes: [] };
    createDebugHandler({ manager, node: { snapshot: () => head, explain: () => ({}) } });
    const problem = { kind: 'k', message: 'm', attempt: 0 };
    const more = { problems: [problem], podsWithoutStatus: [{ podUID: 'u', podNamespace: 'n', podName: 'p' }] };
    createDebugHandler({ manager, node: { snapshot: () => ({ ...head, ...more }), explain: () => ({}) } });
  });

  it('takes a scheduler, also alone', () => {
    expectTypeOf<Scheduler>().toExtend<DebugSchedulerSource>();
    expectTypeOf<ClusterScheduler>().toExtend<DebugSchedulerSource>();
    createDebugHandler({ scheduler: { snapshot: () => ({}), explain: () => ({ text: '' }) } });
  });

  it('takes a fleet, also alone', () => {
    expectTypeOf<NodeFleet>().toExtend<DebugFleetSource>();
    createDebugHandler({
      fleet: { snapshot: ({ nodes }) => ({ nodes: nodes ? [] : undefined }), explain: (nodeName) => ({ nodeName }) },
    });
    // @ts-expect-error a node's snapshot takes other options, and a fleet has to explain
    createDebugHandler({ fleet: { snapshot: () => ({}) } });
  });

  it('refuses what is no manager, and options that are not there', () => {
    // @ts-expect-error a node is no manager
    createDebugHandler({ manager: node });
    // @ts-expect-error misspelt
    createDebugHandler({ manager, allowedHost: ['a'] });
    // @ts-expect-error a node is no scheduler
    createDebugHandler({ manager, scheduler: {} });
  });

  it('gives the listener of a server, and what a framework mounts', () => {
    const handler = createDebugHandler({ manager });
    createServer(handler);
    createServer2(handler);
    expectTypeOf(handler).toExtend<(request: IncomingMessage, response: ServerResponse, next: () => void) => void>();
    expectTypeOf(handler.close).toEqualTypeOf<() => void>();
  });
});

import { describe, expect, it } from 'vitest';
import { Reflector } from '../../../src/client/reflector/reflector.ts';
import { resources } from '../../../src/client/resources/api-resource.ts';
import type { KubeTransport } from '../../../src/client/transport/kube-transport.ts';
import { MirrorPodReconciler } from '../../../src/node/mirror/mirror-pod-reconciler.ts';
import { ProbeManager } from '../../../src/node/probes/probe-manager.ts';
import { ApiServerPodSource } from '../../../src/node/sources/api-server-pod-source.ts';
import { PodWorkers } from '../../../src/node/workers/pod-workers.ts';
import { BasicPodManager } from '../../../src/status/pods/basic-pod-manager.ts';

const podManager = new BasicPodManager();
const transport = { request() {}, stream() {} } as unknown as KubeTransport;
const nothing = (): never => {
  throw new Error('called');
};
const prober = { exec: nothing, http: nothing, tcp: nothing, grpc: nothing };
const statusManager = { getPodStatus: nothing, setContainerReadiness: nothing, setContainerStartup: nothing };
const mirrorPodClient = { createMirrorPod: nothing, deleteMirrorPod: nothing, getMirrorPod: nothing };
const podSource = { lastListedAt: () => undefined };

/** Each class that takes handlers, with the name of one of them. */
const takers: readonly (readonly [name: string, handler: string, make: (handlers: object) => unknown])[] = [
  ['ApiServerPodSource', 'podAdded', (handlers) => new ApiServerPodSource({ transport, nodeName: 'n', podManager, handlers })],
  ['Reflector', 'added', (handlers) => new Reflector({ transport, resource: resources.pods, handlers })],
  ['ProbeManager', 'resultChanged', (handlers) => new ProbeManager({ prober, statusManager, handlers })],
  [
    'MirrorPodReconciler',
    'failed',
    (handlers) => new MirrorPodReconciler({ podManager, mirrorPodClient, nodeName: 'n', podSource, handlers }),
  ],
];

describe.each(takers)('%s', (_, handler, make) => {
  it('takes an instance of a class with members of its own as its handlers', () => {
    const handlers = Object.assign(Object.create({ [handler]: () => {} }), { pods: new Map() });
    expect(() => make(handlers)).not.toThrow();
    expect(() => make(new (class Agent {})())).not.toThrow();
  });

  it('takes a class whose static methods are the handlers', () => {
    expect(() => make(Object.assign(class Agent {}, { [handler]: () => {} }))).not.toThrow();
  });

  it('refuses a handler that is no function, of whatever object, and a misspelt one of a plain object', () => {
    const refused = expect.objectContaining({ code: 'ERR_INVALID_OPTION' });
    expect(() => make(Object.create({ [handler]: 1 }))).toThrow(refused);
    expect(() => make({ [handler]: 'soon' })).toThrow(/handlers/);
    expect(() => make({ podAdedd: () => {} })).toThrow(/podAdedd/);
    expect(() => make(Object.assign(Object.create(null), { podAdedd: () => {} }))).toThrow(/podAdedd/);
    expect(() => make(7 as never)).toThrow(refused);
    expect(() => make(null as never)).toThrow(refused);
  });
});

it('static methods of a class do for any part that is called', () => {
  const recorder = Object.assign(class Recorder {}, { event: () => {} });
  const podSyncer = {
    syncPod: nothing,
    syncTerminatingPod: nothing,
    syncTerminatingRuntimePod: nothing,
    syncTerminatedPod: nothing,
  };
  const runtimeStatusCache = { get: nothing, getNewerThan: nothing };
  expect(() => new PodWorkers({ podSyncer, runtimeStatusCache, eventRecorder: recorder })).not.toThrow();
});

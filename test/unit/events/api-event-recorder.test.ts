import { describe, expect, it } from 'vitest';
import type { ResourceTransport } from '../../../src/client/resource-client.ts';
import type { KubeRequest } from '../../../src/client/transport/kube-transport.ts';
import { ApiEventRecorder } from '../../../src/events/api-event-recorder.ts';
import { buildPod } from '../../../src/testing/fakes/builders.ts';
import { FakeClock, settle } from '../../../src/testing/fakes/fake-clock.ts';

const pod = buildPod({ metadata: { name: 'web', uid: 'u1', resourceVersion: '7' } });

function recorder(answer: (request: KubeRequest) => unknown = () => undefined) {
  const requests: KubeRequest[] = [];
  const clock = new FakeClock();
  const transport = {
    request: async (request: KubeRequest) => {
      requests.push(request);
      await answer(request);
      return { ...(request.body as object), metadata: { name: 'n', uid: 'u', resourceVersion: '1' } };
    },
    stream: () => Promise.reject(new Error('no')),
  } as unknown as ResourceTransport;
  return { requests, clock, events: new ApiEventRecorder({ transport, nodeName: 'node-1', clock }) };
}

describe('ApiEventRecorder', () => {
  it('writes an event of the pod, and counts the same one again for ten minutes', async () => {
    const { events, requests, clock } = recorder();
    events.event(pod, 'Warning', 'ProviderCreateFailed', 'no room', 'spec.containers{app}');
    await settle();
    expect(requests[0]).toMatchObject({
      method: 'POST',
      path: '/api/v1/namespaces/default/events',
      body: {
        kind: 'Event',
        involvedObject: { kind: 'Pod', name: 'web', uid: 'u1', resourceVersion: '7', fieldPath: 'spec.containers{app}' },
        ...{ type: 'Warning', reason: 'ProviderCreateFailed', message: 'no room', count: 1 },
        source: { component: 'pod-status-manager', host: 'node-1' },
        firstTimestamp: '2000-01-01T00:00:00Z',
      },
    });
    await clock.advance(599_000);
    events.event(pod, 'Warning', 'ProviderCreateFailed', 'no room', 'spec.containers{app}');
    events.event(pod, 'Warning', 'ProviderCreateFailed', 'still no room');
    await clock.advance(2000);
    events.event(pod, 'Warning', 'ProviderCreateFailed', 'no room', 'spec.containers{app}');
    await settle();
    expect(requests.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST', 'POST']);
    expect(requests[1]?.body).toEqual({ count: 2, lastTimestamp: '2000-01-01T00:09:59Z' });
    const names = requests.map(({ body }) => (body as { metadata?: { name: string } }).metadata?.name);
    expect(new Set(names).size).toBe(4);
  });

  it('writes 25 events of a pod at once, and then one in five minutes, whatever they say', async () => {
    const { events, requests, clock } = recorder();
    for (let i = 0; i < 100; i++) events.event(pod, 'Warning', 'ProviderStatusFailed', `request ${i}`);
    await settle(100);
    expect(requests).toHaveLength(25);
    events.event(buildPod({ metadata: { uid: 'u2' } }), 'Warning', 'ProviderStatusFailed', 'another pod');
    await settle();
    expect(requests).toHaveLength(26);
    await clock.advance(300_000);
    for (let i = 0; i < 10; i++) events.event(pod, 'Warning', 'ProviderStatusFailed', `later request ${i}`);
    await settle(20);
    expect(requests).toHaveLength(27);
  });

  it('writes one after another, drops what is too much, and loses what the server refuses', async () => {
    const gate = Promise.withResolvers<void>();
    let first = true;
    const { events, requests } = recorder(async () => {
      await gate.promise;
      if (first) {
        first = false;
        throw new Error('refused');
      }
    });
    for (let i = 0; i < 1000; i++) events.event(buildPod({ metadata: { uid: `u${i}` } }), 'Normal', 'Reason', 'message');
    await settle();
    expect(requests).toHaveLength(1);
    gate.resolve();
    await settle(600);
    expect(requests).toHaveLength(501);
  });

  it('gives up the request under way at its stop, and writes nothing after it', async () => {
    const { events, requests } = recorder(({ signal }) => new Promise((_, reject) => signal?.addEventListener('abort', reject)));
    events.event(pod, 'Normal', 'Reason', 'one');
    events.event(pod, 'Normal', 'Reason', 'two');
    await settle();
    await events.stop();
    events.event(pod, 'Normal', 'Reason', 'three');
    await settle();
    expect(requests).toHaveLength(1);
  });
});

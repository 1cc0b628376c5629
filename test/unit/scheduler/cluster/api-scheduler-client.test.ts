import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import type { RateLimiterOptions } from '../../../../src/base/concurrency/rate-limiter.ts';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { resources } from '../../../../src/client/resources/api-resource.ts';
import type { KubeRequest } from '../../../../src/index.ts';
import type { ResourceTransport } from '../../../../src/reflector.ts';
import { ApiSchedulerClient } from '../../../../src/scheduler/cluster/api-scheduler-client.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { type Fate, PodServer } from './pod-server.ts';

const web: WirePod = { metadata: { name: 'web', namespace: 'default', uid: 'u1', resourceVersion: '5', generation: 1 } };
const { signal } = new AbortController();

function world(fates: Fate[] = [], mayWrite = () => true, requestLimit?: RateLimiterOptions) {
  const server = new PodServer();
  server.fates = fates;
  const clock = new FakeClock();
  const client = new ApiSchedulerClient({
    ...{ transport: server.transport, requestLimit, clock, logger: silentLogger, mayWrite },
    identity: 'host',
  });
  /** How a call ended, after as much time as it needs. */
  const ended = async (call: Promise<void>): Promise<string> => {
    const end = call.then(
      () => 'done',
      (error: Error) => error.message,
    );
    await clock.advance(60_000);
    return end;
  };
  return { server, clock, client, ended };
}

/** No request is answered but by the test. */
function hangingWorld() {
  const open: { readonly request: KubeRequest; readonly answer: () => void }[] = [];
  const transport: ResourceTransport = {
    request: (request) => {
      const { promise, resolve } = Promise.withResolvers<never>();
      open.push({ request, answer: () => resolve({ metadata: { name: 'x', resourceVersion: '1' } } as never) });
      return promise;
    },
    stream: () => Promise.reject(new Error('no streams')),
  };
  const clock = new FakeClock();
  const client = new ApiSchedulerClient({ transport, clock, logger: silentLogger, mayWrite: () => true, identity: 'host' });
  const asked = () => open.map(({ request }) => request.path.split('/').at(-1));
  return { clock, open, client, asked, settle: () => new Promise((resolve) => setImmediate(resolve)) };
}

describe('the binding of a pod', () => {
  it('names the uid, and the node', async () => {
    const { server, client, ended } = world();
    expect(await ended(client.bind(web, 'n1', signal))).toBe('done');
    expect(server.requests[0]?.body).toEqual({
      ...{ apiVersion: 'v1', kind: 'Binding', metadata: { name: 'web', namespace: 'default', uid: 'u1' } },
      target: { kind: 'Node', name: 'n1' },
    });
  });

  it('counts where only the answer was lost', async () => {
    const { server, client, ended } = world(['answerLost']);
    expect(await ended(client.bind(web, 'n1', signal))).toBe('done');
    expect(server.asked).toEqual(['POST binding', 'GET web']);
  });

  it('is sent again where the request was lost, or the server was down', async () => {
    const { server, client, ended } = world(['lost', 'answered', 'unavailable']);
    expect(await ended(client.bind(web, 'n1', signal))).toBe('done');
    expect(server.asked).toEqual(['POST binding', 'GET web', 'POST binding', 'GET web', 'POST binding']);
    expect(server.nodeName).toBe('n1');
  });

  it('counts where the read after a lost answer was lost, too', async () => {
    const { server, client, ended } = world(['answerLost', 'lost']);
    expect(await ended(client.bind(web, 'n1', signal))).toBe('done');
    expect(server.asked).toEqual(['POST binding', 'GET web', 'POST binding', 'GET web']);
  });

  it('fails where the pod is on another node, gone, or another one by now', async () => {
    const onAnother = world();
    onAnother.server.nodeName = 'n2';
    expect(await onAnother.ended(onAnother.client.bind(web, 'n1', signal))).toBe('The pod is on the node "n2" already');
    const gone = world();
    gone.server.isGone = true;
    expect(await gone.ended(gone.client.bind(web, 'n1', signal))).toContain('not found');
    const other = world();
    other.server.uid = 'u2';
    expect(await other.ended(other.client.bind(web, 'n1', signal))).toContain('already assigned');
    expect(other.server.nodeName).toBeUndefined();
    expect(other.server.asked).toEqual(['POST binding', 'GET web']);
  });

  it('fails where another pod of the name is on the node', async () => {
    const { server, client, ended } = world();
    [server.uid, server.nodeName] = ['u2', 'n1'];
    expect(await ended(client.bind(web, 'n1', signal))).toContain('already assigned');
    expect(server.asked).toEqual(['POST binding', 'GET web']);
  });

  it('waits as long as a server without room asks for, and is then sent again', async () => {
    const { server, clock, client } = world(['busy', 'busy']);
    const ended = client.bind(web, 'n1', signal);
    await clock.advance(6999);
    expect(server.asked).toEqual(['POST binding']);
    await clock.advance(1);
    expect(server.asked).toEqual(['POST binding', 'POST binding']);
    await clock.advance(7000);
    await ended;
    expect(server.asked).toEqual(['POST binding', 'POST binding', 'POST binding']);
  });

  it('is not sent any more when it is given up while it waits for the server', async () => {
    const { server, clock, client } = world(['busy']);
    const giveUp = new AbortController();
    const ended = client.bind(web, 'n1', giveUp.signal);
    await clock.advance(1000);
    giveUp.abort(new Error('given up'));
    await expect(ended).rejects.toThrow();
    expect([server.asked, clock.pendingTimers]).toEqual([['POST binding'], 0]);
  });

  it('fails at once where the server refuses it, and after three tries where nothing answers', async () => {
    const refused = world(['forbidden']);
    expect(await refused.ended(refused.client.bind(web, 'n1', signal))).toContain('no right');
    expect(refused.server.asked).toEqual(['POST binding']);
    const silent = world(Array.from({ length: 9 }, () => 'lost'));
    expect(await silent.ended(silent.client.bind(web, 'n1', signal))).toContain('the request was lost');
    expect(silent.server.asked.filter((request) => request === 'POST binding')).toHaveLength(3);
  });

  it('sends nothing from a process that does not lead', async () => {
    const { server, client, ended } = world([], () => false);
    expect(await ended(client.bind(web, 'n1', signal))).toContain('not the leader');
    client.event({ pod: web, type: 'Normal', reason: 'Scheduled', action: 'Binding', note: 'x' });
    expect(server.asked.filter((request) => !request.startsWith('GET'))).toEqual([]);
  });

  it('is not sent by a process that lost its lead while the request waited for its turn', async () => {
    let leads = true;
    const { server, clock, client } = world([], () => leads, { qps: 1, burst: 1 });
    const ends = [client.deletePod(web, signal), client.deletePod(web, signal)].map((end) =>
      end.then(
        () => 'done',
        (error: Error) => error.message,
      ),
    );
    client.event({ pod: web, type: 'Normal', reason: 'Scheduled', action: 'Binding', note: 'x' });
    client.event({ pod: web, type: 'Normal', reason: 'Preempted', action: 'Preempting', note: 'x' });
    await clock.advance(0);
    leads = false;
    await clock.advance(60_000);
    expect(await Promise.all(ends)).toEqual(['done', 'this process is not the leader']);
    expect(server.asked.map((request) => request.split(' ')[0])).toEqual(['DELETE', 'POST']);
    await client.flush();
    expect(clock.pendingTimers).toBe(0);
  });

  it('leaves its turn to others when it is given up before that', async () => {
    const { server, clock, client } = world([], () => true, { qps: 1, burst: 1 });
    const giveUp = new AbortController();
    const ends = Promise.allSettled([1, 2, 3].map(() => client.deletePod(web, giveUp.signal)));
    giveUp.abort(new Error('given up'));
    await ends;
    await client.deletePod(web, signal);
    expect(server.asked).toEqual(['DELETE web']);
    await client.stop();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('the status of a pod', () => {
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no room' };

  it('is patched with the uid, the condition and the promised node', async () => {
    const { server, client, ended } = world();
    expect(await ended(client.patchStatus(web, { condition, nominatedNodeName: 'n1' }, signal))).toBe('done');
    expect(server.requests[0]).toMatchObject({ method: 'PATCH', contentType: 'application/strategic-merge-patch+json' });
    expect(server.requests[0]?.body).toEqual({
      metadata: { uid: 'u1' },
      status: {
        conditions: [{ ...condition, observedGeneration: 1, lastTransitionTime: '2000-01-01T00:00:00Z' }],
        nominatedNodeName: 'n1',
      },
    });
  });

  it('is left alone where it says all that already', async () => {
    const { server, client, ended } = world();
    const status = { conditions: [{ ...condition, observedGeneration: 1 }], nominatedNodeName: 'n1' };
    await ended(client.patchStatus({ ...web, status } as WirePod, { condition, nominatedNodeName: 'n1' }, signal));
    expect(server.requests).toEqual([]);
    await ended(client.patchStatus({ ...web, status } as WirePod, { nominatedNodeName: '' }, signal));
    expect(server.requests[0]?.body).toEqual({ metadata: { uid: 'u1' }, status: { nominatedNodeName: null } });
  });

  it('may be of a pod that is gone, or another one; a failure of the server is tried again', async () => {
    const { server, client, ended } = world(['unavailable']);
    expect(await ended(client.patchStatus(web, { condition }, signal))).toBe('done');
    expect(server.requests).toHaveLength(2);
    server.uid = 'u2';
    expect(await ended(client.patchStatus(web, { condition }, signal))).toBe('done');
    server.isGone = true;
    expect(await ended(client.deletePod(web, signal))).toBe('done');
  });
});

describe('events', () => {
  it('are written to events.k8s.io, and counted when they come again', async () => {
    const { server, clock, client } = world();
    const event = { pod: web, type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', note: 'no room' } as const;
    client.event(event);
    await client.flush();
    await clock.advance(5000);
    client.event(event);
    await client.flush();
    expect(server.requests.map(({ method, path }) => `${method} ${path}`.replace(/web\.\w+/, 'web.X'))).toEqual([
      'POST /apis/events.k8s.io/v1/namespaces/default/events',
      'PATCH /apis/events.k8s.io/v1/namespaces/default/events/web.X',
    ]);
    expect(server.requests[0]?.body).toMatchObject({
      ...{ eventTime: '2000-01-01T00:00:00.000000Z', type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling' },
      ...{ note: 'no room', reportingController: 'default-scheduler', reportingInstance: 'default-scheduler-host' },
      regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web', uid: 'u1', resourceVersion: '5' },
    });
    expect(server.requests[1]?.body).toEqual({ series: { count: 2, lastObservedTime: '2000-01-01T00:00:05.000000Z' } });
    await client.stop();
  });

  it('are told by the profile that schedules the pod, also where the name of the pod leaves no room for theirs', async () => {
    const { server, client } = world();
    const long: WirePod = {
      metadata: { ...web.metadata, name: 'x'.repeat(250) },
      spec: { schedulerName: 'mine', containers: [] },
    };
    client.event({ pod: long, type: 'Normal', reason: 'Scheduled', action: 'Binding', note: 'x' });
    client.event({ pod: web, related: long, type: 'Normal', reason: 'Preempted', action: 'Preempting', note: 'x' });
    await client.flush();
    expect(server.requests.map(({ body }) => body)).toMatchObject([
      {
        metadata: { name: expect.stringMatching(/^[-0-9a-f]{36}$/) },
        reportingController: 'mine',
        reportingInstance: 'mine-host',
      },
      { metadata: { name: expect.stringMatching(/^web\./) }, reportingController: 'mine' },
    ]);
    await client.stop();
  });

  it('make way while a pod is being bound, and then go together, with the times when they came about', async () => {
    const { clock, open, asked, client, settle } = hangingWorld();
    const bound = client.bind(web, 'n1', signal);
    for (let i = 0; i < 12; i++) {
      client.event({
        pod: { metadata: { ...web.metadata, uid: `u${i}` } },
        type: 'Normal',
        reason: 'Scheduled',
        action: 'Binding',
        note: 'x',
      });
    }
    await settle();
    expect(asked()).toEqual(['binding', 'events']);
    await clock.advance(5000);
    open.shift()?.answer();
    await bound;
    await settle();
    expect(asked()).toEqual(Array.from({ length: 8 }, () => 'events'));
    expect(open.at(-1)?.request.body).toMatchObject({ eventTime: '2000-01-01T00:00:00.000000Z' });
    const stopped = client.stop();
    for (const { answer } of open.splice(0)) answer();
    await stopped;
  });

  it('end no process where the clock shows parts of milliseconds, or a time that nobody can write', async () => {
    const { server, clock, client } = world();
    clock.jump(0.5);
    client.event({ pod: web, type: 'Normal', reason: 'Scheduled', action: 'Binding', note: 'x' });
    await client.flush();
    clock.jump(1e300);
    client.event({ pod: web, type: 'Normal', reason: 'Preempted', action: 'Preempting', note: 'x' });
    await clock.advance(600_000);
    await client.flush();
    expect(server.requests).toHaveLength(1);
    await client.stop();
  });

  it('have notes of at most 1024 bytes', async () => {
    const { server, client } = world();
    client.event({ pod: web, type: 'Normal', reason: 'Scheduled', action: 'Binding', note: 'ä'.repeat(2000) });
    await client.flush();
    const { note } = server.requests[0]?.body as { note: string };
    expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024);
    expect(note).toMatch(/^ä{500,} \.\.\.$/);
    await client.stop();
  });
});

describe('a write of a claim', () => {
  const claim = { metadata: { name: 'web', namespace: 'default', uid: 'u1', resourceVersion: '7' } };
  const patch = { status: { reservedFor: [] } };

  it('is of its status, and names the version that was looked at', async () => {
    const { server, client } = world();
    await client.patchObjectStatus(resources.resourceClaims, claim as never, patch, signal);
    expect(server.requests[0]).toMatchObject({
      method: 'PATCH',
      path: '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/web/status',
      body: { ...patch, metadata: { uid: 'u1', resourceVersion: '7' } },
    });
  });

  it('is not sent without the Lease, and a read is', async () => {
    const { server, client } = world([], () => false);
    const write = client.patchObjectStatus(resources.resourceClaims, claim as never, patch, signal);
    await expect(write).rejects.toThrow('not the leader');
    await client.getObject(resources.resourceClaims, claim as never, signal);
    expect(server.asked).toEqual(['GET web']);
  });

  it('makes one to which the server gives a name', async () => {
    const { server, client } = world();
    const planned = { metadata: { generateName: 'web-', namespace: 'default', uid: 'u1' } };
    await client.createObject(resources.resourceClaims, planned as never, signal);
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      path: '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims',
      body: planned,
    });
  });

  it('deletes the one that is meant, and no other', async () => {
    const { server, client } = world();
    await client.deleteObject(resources.resourceClaims, claim as never, signal);
    server.uid = 'u2';
    await client.deleteObject(resources.resourceClaims, claim as never, signal);
    server.isGone = true;
    await client.deleteObject(resources.resourceClaims, claim as never, signal);
    expect(server.requests).toHaveLength(3);
    expect(server.requests[0]).toMatchObject({
      method: 'DELETE',
      path: '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/web',
      body: { preconditions: { uid: 'u1' } },
    });
  });

  it('makes and deletes none without the Lease', async () => {
    const { server, client } = world([], () => false);
    await expect(client.createObject(resources.resourceClaims, claim as never, signal)).rejects.toThrow('not the leader');
    await expect(client.deleteObject(resources.resourceClaims, claim as never, signal)).rejects.toThrow('not the leader');
    expect(server.requests).toEqual([]);
  });

  it('is named in the status of its pod', async () => {
    const { server, client } = world();
    const requestMappings = [{ containerName: 'c', resourceName: 'example.com/gpu', requestName: 'r' }];
    const extendedResourceClaimStatus = { requestMappings, resourceClaimName: 'web-1' };
    await client.patchStatus(web, { extendedResourceClaimStatus }, signal);
    expect(server.requests.map(({ body }) => body)).toEqual([
      { metadata: { uid: web.metadata?.uid }, status: { extendedResourceClaimStatus } },
    ]);
  });
});

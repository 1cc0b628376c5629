import { describe, expect, it } from 'vitest';
import type { Logger } from '../../../../src/base/logging/logger.ts';
import { isDnsSubdomain } from '../../../../src/base/names.ts';
import { ApiEventRecorder } from '../../../../src/client/events/api-event-recorder.ts';
import type { ResourceTransport } from '../../../../src/client/resources/resource-client.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import type { KubeRequest } from '../../../../src/client/transport/kube-transport.ts';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';

const refusal = (status: number, reason: string, retryAfterMs?: number): ApiError =>
  new ApiError({ status, reason, message: reason, retryAfterMs });
const noAnswer = (): ApiError => new ApiError({ reason: 'Network', message: 'connect ECONNREFUSED' });

const pod = buildPod({ metadata: { name: 'web', uid: 'u1', resourceVersion: '7' } });

interface RecorderWorld {
  readonly random?: () => number;
  readonly logger?: Logger;
}

function recorder(answer: (request: KubeRequest) => unknown = () => undefined, given: RecorderWorld = {}) {
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
  const lines: string[] = [];
  const note = (_: object, text: string): void => void lines.push(text);
  const { random = () => 0.5, logger = { debug: () => {}, info: note, warn: note, error: note } } = given;
  const events = new ApiEventRecorder({ transport, nodeName: 'node-1', clock, random, logger });
  return { requests, clock, lines, events };
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
        throw refusal(422, 'Invalid');
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

  it('sends an event that got no answer again, under its name, and those after it wait', async () => {
    let isOut = true;
    const { events, requests, clock, lines } = recorder(() => {
      if (isOut) throw noAnswer();
    });
    events.event(pod, 'Warning', 'BackOff', 'one');
    events.event(pod, 'Normal', 'Started', 'two');
    await settle();
    await clock.advance(4999);
    expect(requests).toHaveLength(1);
    await clock.advance(1);
    await clock.advance(9999);
    expect(requests).toHaveLength(2);
    isOut = false;
    await clock.advance(1);
    await settle();
    expect(requests.map(({ body }) => (body as { message: string }).message)).toEqual(['one', 'one', 'one', 'two']);
    expect(new Set(requests.slice(0, 3).map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect([lines, clock.pendingTimers]).toEqual([[], 0]);
  });

  it('sends none again without a pause, whatever the random numbers are', async () => {
    const answer = (): never => {
      throw noAnswer();
    };
    const { events, requests, clock } = recorder(answer, { random: () => 0 });
    events.event(pod, 'Normal', 'Reason', 'one');
    await settle();
    await clock.advance(99);
    expect(requests).toHaveLength(1);
    await clock.advance(1);
    expect(requests).toHaveLength(2);
    await events.stop();
  });

  it.each([
    ['that were refused', (): ApiError => refusal(403, 'Forbidden'), 1],
    ['that got no answer', noAnswer, 12],
  ])('says once that events are written again after those %s', async (_what, error, tries) => {
    let isOut = true;
    const { logger, saying, of } = recordedLines();
    const { events, clock } = recorder(
      () => {
        if (isOut) throw error();
      },
      { logger },
    );
    events.event(pod, 'Normal', 'Reason', 'one');
    await settle();
    await clock.advance(115_000);
    expect(of('warn')).toHaveLength(1);
    isOut = false;
    for (const text of ['two', 'three']) {
      events.event(pod, 'Normal', 'Reason', text);
      await clock.advance(20_000);
    }
    expect(saying('events are written again')).toMatchObject([{ level: 'info', fields: { attempt: tries } }]);
    await events.stop();
  });

  it('says of failures that the log was not told of neither that they came nor that they are over', async () => {
    let isOut = true;
    const { logger, of } = recordedLines();
    const { events, requests, clock } = recorder(
      () => {
        if (isOut) throw noAnswer();
      },
      { logger },
    );
    events.event(pod, 'Normal', 'Reason', 'one');
    await settle();
    isOut = false;
    await clock.advance(20_000);
    expect([requests.length, of('info', 'warn', 'error')]).toEqual([2, []]);
    await events.stop();
  });

  it('gives an event up after twelve tries, and goes on with the next', async () => {
    const { events, requests, clock, lines } = recorder(() => {
      throw noAnswer();
    });
    events.event(pod, 'Normal', 'Reason', 'one');
    events.event(pod, 'Normal', 'Reason', 'two');
    await settle();
    await clock.advance(105_000);
    expect(requests.map(({ body }) => (body as { message: string }).message)).toEqual([...Array(12).fill('one'), 'two']);
    expect(lines).toEqual(['an event could not be written, and is given up']);
    await events.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    ['refuses it', refusal(403, 'Forbidden'), 1, 1],
    ['fails, and does not want it later', refusal(500, 'InternalError'), 1, 1],
    ['has it already', refusal(409, 'AlreadyExists'), 1, 0],
    ['wants it later', refusal(429, 'TooManyRequests', 20_000), 2, 0],
    ['is overloaded for longer than anybody waits', refusal(503, 'ServiceUnavailable', 3_600_000), 1, 0],
  ])('heeds what the server says when it %s', async (_how, error, tries, warnings) => {
    const { events, requests, clock, lines } = recorder(() => {
      throw error;
    });
    events.event(pod, 'Normal', 'Reason', 'one');
    await settle();
    await clock.advance(39_999);
    expect([requests.length, lines.length]).toEqual([tries, warnings]);
    await events.stop();
  });

  it('writes an event anew, with its count and its first time, where the server has forgotten it', async () => {
    const { events, requests, clock } = recorder(({ method }) => {
      if (method === 'PATCH') throw refusal(404, 'NotFound');
    });
    events.event(pod, 'Normal', 'Reason', 'again');
    await settle();
    await clock.advance(60_000);
    events.event(pod, 'Normal', 'Reason', 'again');
    await settle();
    expect(requests.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST']);
    const [first, , again] = requests.map(({ body }) => body as { metadata: { name: string } });
    expect(again).toMatchObject({
      metadata: { name: first?.metadata.name },
      ...{ count: 2, firstTimestamp: '2000-01-01T00:00:00Z', lastTimestamp: '2000-01-01T00:01:00Z' },
    });
  });

  it('gives an event a name that the server takes, however long that of its pod is', async () => {
    const { events, requests } = recorder();
    for (const length of [10, 240, 253]) {
      events.event(buildPod({ metadata: { name: 'a'.repeat(length), uid: `u${length}` } }), 'Normal', 'Reason', 'message');
    }
    await settle();
    const names = requests.map(({ body }) => (body as { metadata: { name: string } }).metadata.name);
    expect(names.map((name) => isDnsSubdomain(name))).toEqual([true, true, true]);
    expect(names.map((name) => name.startsWith('aaaaa'))).toEqual([true, false, false]);
  });

  it('counts ten minutes and five minutes by the time that has passed, not by the time of day', async () => {
    const { events, requests, clock } = recorder();
    events.event(pod, 'Normal', 'Reason', 'same');
    await settle();
    clock.jump(3_600_000);
    events.event(pod, 'Normal', 'Reason', 'same');
    await settle();
    clock.jump(-7_200_000);
    for (let i = 0; i < 50; i++) events.event(pod, 'Normal', 'Reason', `other ${i}`);
    await settle(100);
    await clock.advance(300_000);
    events.event(pod, 'Normal', 'Reason', 'same');
    await settle();
    expect(requests.map(({ method }) => method)).toEqual(['POST', 'PATCH', ...Array(23).fill('POST'), 'PATCH']);
  });

  it('writes an event of a node into the namespace default, and counts the same one again', async () => {
    const { events, requests } = recorder();
    events.nodeEvent('node-1', 'Normal', 'NodeReady', 'Node node-1 status is now: NodeReady');
    events.nodeEvent('node-1', 'Normal', 'NodeReady', 'Node node-1 status is now: NodeReady');
    events.nodeEvent('node-2', 'Normal', 'NodeReady', 'Node node-1 status is now: NodeReady');
    await settle();
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /api/v1/namespaces/default/events',
      expect.stringMatching(/^PATCH \/api\/v1\/namespaces\/default\/events\/node-1\./),
      'POST /api/v1/namespaces/default/events',
    ]);
    const involvedObject = { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'node-1' };
    expect(requests[0]?.body).toMatchObject({
      type: 'Normal',
      reason: 'NodeReady',
      count: 1,
      metadata: { namespace: 'default' },
    });
    expect((requests[0]?.body as { involvedObject: object }).involvedObject).toEqual(involvedObject);
  });

  it('writes 25 events of a node at once, and takes them from no pod of the same uid', async () => {
    const { events, requests } = recorder();
    for (let i = 0; i < 100; i++) events.nodeEvent('u1', 'Warning', 'SystemOOM', `process ${i}`);
    for (let i = 0; i < 100; i++) events.event(pod, 'Warning', 'SystemOOM', `process ${i}`);
    await settle(200);
    const kinds = requests.map(({ body }) => (body as { involvedObject: { kind: string } }).involvedObject.kind);
    expect(kinds).toEqual([...Array(25).fill('Node'), ...Array(25).fill('Pod')]);
  });

  it('has places for the events of a node that pods cannot fill, and 25 at most', async () => {
    const { events, requests, lines } = recorder(() => new Promise(() => {}));
    for (let i = 0; i < 501; i++) events.event(buildPod({ metadata: { uid: `u${i}` } }), 'Normal', 'Reason', 'message');
    for (let i = 0; i < 26; i++) events.nodeEvent(`node-${i}`, 'Warning', 'EvictionThresholdMet', 'Attempting to reclaim memory');
    await settle();
    expect([requests.length, lines]).toEqual([1, ['too many events wait to be written: one was dropped']]);
  });

  it('writes an event that comes just when the one before it has been written', async () => {
    for (let turns = 0; turns < 20; turns++) {
      const { events, requests } = recorder();
      events.event(pod, 'Normal', 'Reason', 'one');
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      events.event(pod, 'Normal', 'Reason', 'two');
      await settle(20);
      expect([turns, requests.length]).toEqual([turns, 2]);
    }
  });

  it('says that it drops events', async () => {
    const { events, requests, lines } = recorder(() => new Promise(() => {}));
    for (let i = 0; i < 502; i++) events.event(buildPod({ metadata: { uid: `u${i}` } }), 'Normal', 'Reason', 'message');
    await settle();
    expect([requests.length, lines]).toEqual([1, ['too many events wait to be written: one was dropped']]);
  });
});

describe('events that are not written', () => {
  it('are told of with what the server said, until one is written', async () => {
    let error: Error | undefined = refusal(403, 'Forbidden');
    const { events, clock } = recorder(() => (error === undefined ? undefined : Promise.reject(error)));
    events.event(pod, 'Normal', 'Started', 'one');
    await settle();
    expect(events.failing).toEqual({ message: 'Forbidden', since: clock.now(), attempt: 1 });
    events.event(pod, 'Normal', 'Started', 'two');
    await settle();
    expect(events.failing?.attempt).toBe(2);
    error = undefined;
    events.event(pod, 'Normal', 'Started', 'three');
    await settle();
    expect(events.failing).toBeUndefined();
    await events.stop();
  });

  it('are told of where too many wait', async () => {
    const { events } = recorder(() => new Promise(() => {}));
    const podOf = (index: number) => buildPod({ metadata: { name: `p${index}`, uid: `u${index}` } });
    for (let index = 0; index < 502; index += 1) events.event(podOf(index), 'Normal', 'Started', 'one');
    expect(events.failing?.message).toBe('500 events wait to be written, and more are dropped');
  });

  it.each([
    ['is being deleted', 403, 'Forbidden', 'unable to create new content in namespace default because it is being terminated'],
    ['is gone', 404, 'NotFound', 'namespaces "default" not found'],
  ])('are no failure where their namespace %s', async (_how, status, reason, message) => {
    const { events, requests, lines } = recorder(() => Promise.reject(new ApiError({ status, reason, message })));
    events.event(pod, 'Normal', 'Killing', 'one');
    await settle();
    expect([requests.length, events.failing, lines]).toEqual([1, undefined, []]);
  });

  it('are forgotten five minutes after the last failure, by the time that has passed', async () => {
    const { events, clock } = recorder(() => Promise.reject(refusal(403, 'Forbidden')));
    events.event(pod, 'Normal', 'Started', 'one');
    await settle();
    await clock.advance(200_000);
    events.event(pod, 'Normal', 'Started', 'two');
    await settle();
    clock.jump(3_600_000);
    await clock.advance(299_999);
    expect(events.failing?.attempt).toBe(2);
    await clock.advance(1);
    expect(events.failing).toBeUndefined();
    events.event(pod, 'Normal', 'Started', 'three');
    await settle();
    expect(events.failing).toEqual({ message: 'Forbidden', since: clock.now(), attempt: 1 });
  });

  it('are told of for as long as some are dropped, since the first', async () => {
    const { events, clock } = recorder(() => new Promise(() => {}));
    const since = clock.now();
    for (let index = 0; index < 505; index += 1) {
      if (index > 500) await clock.advance(200_000);
      events.event(buildPod({ metadata: { uid: `u${index}` } }), 'Normal', 'Started', 'one');
    }
    expect(events.failing).toMatchObject({ since: since + 200_000, attempt: 1 });
  });
});

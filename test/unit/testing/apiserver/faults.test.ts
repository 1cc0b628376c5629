import { afterEach, describe, expect, it } from 'vitest';
import { InMemoryApiServer } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { pods, TestClient } from './client.ts';

const cleanUps: (() => Promise<void>)[] = [];

/** A server with the pending pod `pod-1`, and a PATCH of its phase to Running. */
async function serve() {
  const clock = new FakeClock();
  const server = await InMemoryApiServer.start({ clock });
  const client = new TestClient(server);
  cleanUps.push(
    () => client.close(),
    () => server.stop(),
  );
  server.store.put(buildPod());
  const patch = () => client.outcome('PATCH', `${pods}/pod-1/status`, { body: { status: { phase: 'Running' } } });
  const phase = () => server.store.get('default', 'pod-1').status?.phase;
  return { server, client, clock, patch, phase };
}

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

describe('server.fail', () => {
  it('answers with a status and does nothing else, by default for one request', async () => {
    const { server, client, patch, phase } = await serve();
    const handle = server.fail({ verb: 'patch', fault: { kind: 'status', code: 429, retryAfterSeconds: 3 } });
    const answer = await client.send('PATCH', `${pods}/pod-1/status`, { body: { status: { phase: 'Running' } } });
    expect(answer.headers['retry-after']).toBe('3');
    expect(answer.json()).toMatchObject({
      kind: 'Status',
      code: 429,
      reason: 'TooManyRequests',
      details: { retryAfterSeconds: 3 },
    });
    expect(phase()).toBe('Pending');
    expect(handle.remaining).toBe(0);
    expect(await patch()).toBe(200);
  });

  it('answers with the given reason', async () => {
    const { server, client } = await serve();
    server.fail({ fault: { kind: 'status', code: 403, reason: 'Odd' } });
    expect((await client.send('GET', pods)).json()).toMatchObject({ code: 403, reason: 'Odd' });
  });

  it('answers with the given message, as a real refusal has it', async () => {
    const { server, client } = await serve();
    const message = 'pods "pod-1" is forbidden: User "agent" cannot patch resource "pods/status" in API group ""';
    server.fail({ fault: { kind: 'status', code: 403, message } });
    expect((await client.send('GET', pods)).json()).toMatchObject({ code: 403, reason: 'Forbidden', message });
    server.fail({ fault: { kind: 'status', code: 500 } });
    expect((await client.send('GET', pods)).json()).toMatchObject({ message: 'This request fails with 500 on demand' });
  });

  it.each([
    ['fault', undefined],
    ['fault.kind', { kind: 'stauts', code: 403 }],
    ['fault.code', { kind: 'status', code: '403' }],
    ['fault.code', { kind: 'status', code: 100 }],
    ['fault.message', { kind: 'status', code: 403, message: 7 }],
    ['fault.reason', { kind: 'status', code: 403, reason: '' }],
    ['fault.mesage', { kind: 'status', code: 403, mesage: 'no' }],
  ])('refuses a wrong %s: %j', async (name, fault) => {
    const { server, client } = await serve();
    const refusal = expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringContaining(`\`${name}\``) });
    expect(() => server.fail({ fault: fault as never })).toThrow(refusal);
    expect(await client.outcome('GET', pods)).toBe(200);
  });

  it('hits only the given verb, namespace and name, as often as given', async () => {
    const { server, client, patch } = await serve();
    const handle = server.fail({
      verb: 'get',
      namespace: 'default',
      name: 'pod-1',
      times: 2,
      fault: { kind: 'status', code: 500 },
    });
    expect(await patch()).toBe(200);
    expect(await client.outcome('GET', `${pods}/other`)).toBe(404);
    expect(await client.outcome('GET', '/api/v1/namespaces/other/pods/pod-1')).toBe(404);
    expect(handle.remaining).toBe(2);
    const codes = [];
    for (let i = 0; i < 3; i += 1) codes.push(await client.outcome('GET', `${pods}/pod-1`));
    expect(codes).toEqual([500, 500, 200]);
  });

  it('uses up several faults in order, and drops a removed or cleared one', async () => {
    const { server, client } = await serve();
    server.fail({ fault: { kind: 'status', code: 500 } });
    const removed = server.fail({ fault: { kind: 'status', code: 502 } });
    server.fail({ fault: { kind: 'status', code: 503 } });
    server.fail({ fault: { kind: 'status', code: 504 } });
    removed.remove();
    expect(removed.remaining).toBe(0);
    expect(await client.outcome('GET', pods)).toBe(500);
    expect(await client.outcome('GET', pods)).toBe(503);
    server.clearFaults();
    expect(await client.outcome('GET', pods)).toBe(200);
  });

  it('hits a share of the requests without limit, with the given random numbers', async () => {
    const { server, client } = await serve();
    const dice = [0.4, 0.5, 0.1, 0.9];
    const handle = server.fail({ probability: 0.5, random: () => dice.shift() ?? 1, fault: { kind: 'status', code: 500 } });
    const codes = [];
    for (let i = 0; i < 5; i += 1) codes.push(await client.outcome('GET', pods));
    expect(codes).toEqual([500, 200, 500, 200, 200]);
    expect(handle.remaining).toBe(Number.POSITIVE_INFINITY);
  });

  it('waits before it handles the request, and then applies the next fault', async () => {
    const { server, clock, patch, phase } = await serve();
    server.fail({ fault: { kind: 'latency', ms: 500 } });
    server.fail({ fault: { kind: 'status', code: 503 } });
    const first = patch();
    await until(() => clock.pendingTimers === 1);
    await clock.advance(499);
    expect(phase()).toBe('Pending');
    await clock.advance(1);
    expect(await first).toBe(503);
    expect(await patch()).toBe(200);
  });

  it('does not run a request whose client went away while it waited', async () => {
    const { server, client, clock, patch, phase } = await serve();
    server.fail({ fault: { kind: 'latency', ms: 500 } });
    const request = patch();
    await until(() => clock.pendingTimers === 1);
    await client.close();
    await request;
    await until(() => clock.pendingTimers === 0);
    await clock.advance(1_000);
    expect(phase()).toBe('Pending');
  });

  it('resets the connection before the request takes effect', async () => {
    const { server, patch, phase } = await serve();
    server.fail({ fault: { kind: 'reset' } });
    expect(await patch()).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
    expect(phase()).toBe('Pending');
    await until(() => server.requests.length === 1);
    expect(server.requests[0]).toMatchObject({ verb: 'patch', status: 0 });
    expect(await patch()).toBe(200);
  });

  it('resets the connection after the request has taken effect', async () => {
    const { server, patch, phase } = await serve();
    server.fail({ fault: { kind: 'reset-after' } });
    expect(await patch()).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
    expect(phase()).toBe('Running');
  });

  it('cuts an answer off in the middle, after the request has taken effect', async () => {
    const { server, patch, phase } = await serve();
    server.fail({ fault: { kind: 'cut' } });
    expect(await patch()).toMatch(/UND_ERR|ECONNRESET/);
    expect(phase()).toBe('Running');
    expect(await patch()).toBe(200);
  });

  it('answers 200 with text that is no JSON', async () => {
    const { server, client, phase } = await serve();
    server.fail({ fault: { kind: 'garbage' } });
    const answer = await client.send('PATCH', `${pods}/pod-1/status`, { body: { status: { phase: 'Running' } } });
    expect(answer.status).toBe(200);
    expect(() => answer.json()).toThrow(SyntaxError);
    expect(phase()).toBe('Pending');
  });

  it('leaves a request without an answer until the client gives up', async () => {
    const { server, client, patch, phase } = await serve();
    server.fail({ fault: { kind: 'hang' } });
    const request = patch();
    await until(() => server.requests.length === 1);
    expect(await client.outcome('GET', pods)).toBe(200);
    expect(server.requests[0]).toMatchObject({ verb: 'patch', status: 0 });
    await client.close();
    expect(await request).toMatch(/UND_ERR/);
    expect(phase()).toBe('Pending');
  });

  it('hits watches too: refused, and cut off in the middle of an event', async () => {
    const { server, client } = await serve();
    server.fail({ verb: 'watch', fault: { kind: 'status', code: 503 } });
    server.fail({ verb: 'watch', fault: { kind: 'cut' } });
    expect((await client.watch()).status).toBe(503);
    const watch = await client.watch();
    await until(() => watch.ended !== undefined);
    expect(watch.names).toEqual(['ADDED pod-1']);
    expect(watch.ended).not.toBe('end');
  });
});

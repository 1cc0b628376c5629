import { describe, expect, it } from 'vitest';
import { TokenManager } from '../../../../src/kubelet.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';

const hour = 3_600_000;
const pod = (uid = 'u1') => ({ metadata: { name: 'web', namespace: 'shop', uid } });
const request = { serviceAccountName: 'robot', audience: '', expirationSeconds: 3600 };
const never = new AbortController().signal;
const answered = (token: string, now: number, seconds: number) => ({
  spec: { expirationSeconds: seconds },
  status: { token, expirationTimestamp: new Date(now + seconds * 1000).toISOString() },
});

function setUp({ random = 0 }: { random?: number } = {}) {
  const clock = new FakeClock();
  const requests: { path: string; body: unknown; signal: AbortSignal | undefined }[] = [];
  const warnings: unknown[] = [];
  let answer: (count: number) => unknown = (count) => answered(`token-${count}`, clock.now(), 3600);
  const transport = {
    request: async (sent: { path: string; body?: unknown; signal?: AbortSignal | undefined }) => {
      requests.push({ path: sent.path, body: sent.body, signal: sent.signal });
      return (await answer(requests.length)) as never;
    },
    stream: async () => {},
  };
  const logger = { debug() {}, info() {}, warn: (fields: object) => void warnings.push(fields), error() {} };
  const manager = new TokenManager({ transport, clock, random: () => random, logger });
  const get = async (options = {}, ofPod = pod()) => (await manager.getToken(ofPod, { ...request, ...options }, never)).token;
  const answers = (next: (count: number) => unknown): void => {
    answer = next;
  };
  return { clock, requests, warnings, manager, get, answers };
}

const failure = (status: number) => Object.assign(new Error(`answer ${status}`), { status, reason: 'Forbidden' });
const fail = (status: number) => () => {
  throw failure(status);
};

describe('TokenManager', () => {
  it('asks for a token that is bound to the pod, with audience and life as given', async () => {
    const { requests, get } = setUp();
    await get({ audience: 'vault', expirationSeconds: 3607 });
    await get();
    expect(requests[0]?.path).toBe('/api/v1/namespaces/shop/serviceaccounts/robot/token');
    expect(requests.map(({ body }) => body)).toEqual([
      {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: {
          audiences: ['vault'],
          expirationSeconds: 3607,
          boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u1' },
        },
      },
      expect.objectContaining({ spec: expect.objectContaining({ audiences: [], expirationSeconds: 3600 }) }),
    ]);
  });

  it('keeps a token for each pod, account, audience and life', async () => {
    const { requests, manager, get } = setUp();
    for (let round = 0; round < 3; round += 1) {
      await get();
      await get({ audience: 'vault' });
      await get({ expirationSeconds: 7200 });
      await get({ serviceAccountName: 'other' });
      await get({}, pod('u2'));
    }
    expect([requests.length, manager.size]).toEqual([5, 2]);
    manager.deletePod('u1');
    expect([await get(), await get({}, pod('u2')), requests.length]).toEqual(['token-6', 'token-5', 6]);
  });

  it('asks for a token of the account with the uid, and gives nobody that of another account of the same name', async () => {
    const { requests, get } = setUp();
    const tokens = [];
    for (const serviceAccountUID of ['before', 'after', 'before', undefined]) tokens.push(await get({ serviceAccountUID }));
    expect(tokens).toEqual(['token-1', 'token-2', 'token-1', 'token-3']);
    expect(requests.map(({ body }) => (body as { metadata?: object }).metadata)).toEqual([
      { uid: 'before' },
      { uid: 'after' },
      undefined,
    ]);
  });

  it('asks once for all who ask at the same time', async () => {
    const { requests, get } = setUp();
    expect(await Promise.all([get(), get(), get()])).toEqual(['token-1', 'token-1', 'token-1']);
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['80 % of an hour', 3600, 0, 0.8 * hour],
    ['80 % of an hour less its jitter', 3600, 0.5, 0.8 * hour - 5000],
    ['24 hours, of a year', 365 * 86_400, 0, 24 * hour],
  ])('renews after %s', async (_, seconds, random, ms) => {
    const { clock, get, answers } = setUp({ random });
    answers((count) => answered(`token-${count}`, clock.now(), seconds));
    expect(await get()).toBe('token-1');
    await clock.advance(ms - 1);
    expect(await get()).toBe('token-1');
    await clock.advance(1);
    expect(await get()).toBe('token-2');
  });

  it('counts the life that the server gave, not the one that was asked for', async () => {
    const { clock, get, answers } = setUp();
    answers((count) => answered(`token-${count}`, clock.now(), 600));
    await get({ expirationSeconds: 36_000 });
    await clock.advance(480_000);
    expect(await get({ expirationSeconds: 36_000 })).toBe('token-2');
  });

  it('renews by what has passed, however the clock is set', async () => {
    const { clock, requests, get, answers } = setUp();
    await get();
    for (const stepMs of [-24 * hour, 48 * hour]) {
      clock.jump(stepMs);
      expect([await get(), requests.length]).toEqual(['token-1', 1]);
    }
    clock.jump(-24 * hour);
    await clock.advance(hour);
    answers(fail(500));
    clock.jump(-2 * hour);
    await expect(get()).rejects.toThrow('failed to fetch token: answer 500');
  });

  it('keeps so many tokens of a pod and asks for no more, whatever the pod names', async () => {
    const { clock, requests, get } = setUp();
    const asked = Array.from({ length: 5000 }, (_, index) => get({ audience: `${index}` }));
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(100);
    expect(requests).toHaveLength(100);
    expect(outcomes[100]).toMatchObject({
      reason: {
        code: 'ERR_OVER_BUDGET',
        message:
          'pod shop/web has 100 service account tokens and asks for more, and this node keeps 100 for one pod. Let the pod ask for fewer',
      },
    });
    expect(await get({ audience: '7' })).toBe('token-8');
    expect(await get({}, pod('u2'))).toBe('token-101');
    await clock.advance(hour);
    expect(await get({ audience: 'new' })).toBe('token-102');
  });

  it('goes on with the old token while renewing fails, at a limited rate, and as long as it is valid', async () => {
    const { clock, requests, warnings, get, answers } = setUp();
    await get();
    await clock.advance(0.8 * hour);
    answers(fail(500));
    expect([await get(), await get(), requests.length]).toEqual(['token-1', 'token-1', 2]);
    expect(JSON.stringify(warnings)).not.toContain('token-1');
    expect(warnings).toMatchObject([{ podUID: 'u1', podName: 'web', attempt: 1, retryInMs: 10_000 }]);
    await clock.advance(10_000);
    expect([await get(), requests.length]).toEqual(['token-1', 3]);
    expect(warnings[1]).toMatchObject({ attempt: 2 });
    await clock.advance(0.2 * hour - 10_000);
    await expect(get()).rejects.toThrow('failed to fetch token: answer 500');
    answers((count) => answered(`token-${count}`, clock.now(), 3600));
    expect(await get()).toBe('token-5');
  });

  it('repeats a 403 soon, for a short time', async () => {
    const { clock, requests, get, answers } = setUp();
    answers((count) => (count < 3 ? fail(403)() : answered(`token-${count}`, clock.now(), 3600)));
    const got = get();
    await settle();
    expect(requests).toHaveLength(1);
    await clock.advance(50);
    await settle();
    expect(requests).toHaveLength(2);
    await clock.advance(100);
    expect(await got).toBe('token-3');
    expect(clock.pendingTimers).toBe(0);

    answers(fail(403));
    const refused = expect(get({}, pod('u2'))).rejects.toMatchObject({ message: 'failed to fetch token: answer 403' });
    for (let step = 0; step < 10; step += 1) {
      await settle();
      await clock.advance(800);
    }
    await refused;
    expect(requests).toHaveLength(9);
  });

  it.each([404, 409, 422, 500])('does not repeat a %i', async (status) => {
    const { requests, get, answers } = setUp();
    answers(fail(status));
    await expect(get()).rejects.toThrow(`failed to fetch token: answer ${status}`);
    expect(requests).toHaveLength(1);
  });

  it.each([
    undefined,
    {},
    { status: {} },
    { status: { token: '', expirationTimestamp: '2030-01-01T00:00:00Z' } },
    { status: { token: 'x', expirationTimestamp: 'soon' } },
  ])('refuses the answer %j', async (answer) => {
    const { get, answers } = setUp();
    answers(() => answer);
    await expect(get()).rejects.toThrow('the answer to a TokenRequest holds no token');
  });

  it('lets go of a caller whose signal aborts, and gives the token to the others', async () => {
    const { clock, manager, get, answers } = setUp();
    const sent = Promise.withResolvers<unknown>();
    answers(() => sent.promise);
    const leaving = new AbortController();
    const left = expect(manager.getToken(pod(), request, leaving.signal)).rejects.toThrow('gone');
    const other = get();
    leaving.abort(new Error('gone'));
    await left;
    sent.resolve(answered('late', clock.now(), 3600));
    expect(await other).toBe('late');
  });

  it('gives up what is under way when it stops, and answers nobody afterwards', async () => {
    const { requests, manager, get, answers, clock } = setUp();
    answers(fail(403));
    const waiting = expect(get()).rejects.toMatchObject({ code: 'ERR_STOPPED' });
    await settle();
    await manager.stop();
    await waiting;
    await expect(get()).rejects.toMatchObject({ code: 'ERR_STOPPED' });
    expect([requests.length, requests[0]?.signal?.aborted, manager.size, clock.pendingTimers]).toEqual([1, true, 0, 0]);
  });

  it('drops a token that comes after its pod was deleted', async () => {
    const { clock, manager, get, answers } = setUp();
    const sent = Promise.withResolvers<unknown>();
    answers(() => sent.promise);
    const got = get();
    await settle();
    manager.deletePod('u1');
    sent.resolve(answered('late', clock.now(), 3600));
    await got;
    expect(manager.size).toBe(0);
  });

  it('refuses a pod without a uid, and options that it does not know', async () => {
    const { manager } = setUp();
    const nameless = { metadata: { name: 'web', namespace: 'shop' } };
    await expect(manager.getToken(nameless, request, never)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' });
    // @ts-expect-error
    expect(() => new TokenManager({ transport: { request() {}, stream() {} }, retries: 3 })).toThrow('options.retries');
    // @ts-expect-error
    expect(() => new TokenManager({})).toThrow('transport');
  });
});

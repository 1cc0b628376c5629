import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import { GuardedTransport } from '../../../../src/client/transport/guarded-transport.ts';
import type { KubeRequest, KubeStream, KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { failureOf } from './scripted-server.ts';

const refusal = new ApiError({ reason: 'NotOwner', message: 'no longer' });
const refuse = (): void => {
  throw refusal;
};
const patch: KubeRequest = { method: 'PATCH', path: '/p', body: {} };

/** A transport that notes what it is asked for. */
function notingTransport() {
  const asked: (KubeRequest | KubeStream)[] = [];
  const transport: Pick<KubeTransport, 'request' | 'stream'> = {
    request: async (request) => {
      asked.push(request);
      request.guard?.();
      return {};
    },
    stream: async (stream) => {
      asked.push(stream);
      stream.guard?.();
    },
  };
  return { asked, transport };
}

describe('GuardedTransport', () => {
  it('leaves reads as they are', async () => {
    const { asked, transport } = notingTransport();
    const guarded = new GuardedTransport(transport, refuse, { writeLimitMs: () => 0 });
    const get: KubeRequest = { method: 'GET', path: '/p' };
    const watch: KubeStream = { method: 'GET', path: '/w', idleTimeoutMs: 1, onChunk: () => {} };
    await guarded.request(get);
    await guarded.stream(watch);
    expect(asked).toEqual([get, watch]);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)('has %s refused with what the guard throws', async (method) => {
    const { transport } = notingTransport();
    const guarded = new GuardedTransport(transport, refuse);
    expect(await failureOf(guarded.request({ method, path: '/p' }))).toBe(refusal);
    expect(await failureOf(guarded.stream({ method, path: '/p', idleTimeoutMs: 1, onChunk: () => {} }))).toBe(refusal);
  });

  it('asks the guard that a request brings, too, and after its own', async () => {
    const { transport } = notingTransport();
    const asked: string[] = [];
    const guarded = new GuardedTransport(transport, () => void asked.push('own'));
    await guarded.request({ ...patch, guard: () => void asked.push('brought') });
    expect(await failureOf(guarded.request({ ...patch, guard: refuse }))).toBe(refusal);
    expect(asked).toEqual(['own', 'brought', 'own']);
  });

  it.each([
    [undefined, 3000, 3000],
    [undefined, 15_000, 10_000],
    [2000, 3000, 2000],
    [20_000, 3000, 3000],
  ])('gives a write of the limit %s, where %i ms are left, %i ms', async (timeoutMs, leftMs, expected) => {
    const { asked, transport } = notingTransport();
    await new GuardedTransport(transport, () => {}, { writeLimitMs: () => leftMs }).request({ ...patch, timeoutMs });
    expect(asked[0]).toMatchObject({ timeoutMs: expected });
  });

  it.each([
    0,
    -5,
    Number.NaN,
  ])('refuses a write where %d ms are left, with the words of the guard if it has some', async (leftMs) => {
    const { asked, transport } = notingTransport();
    const options = { writeLimitMs: () => leftMs };
    expect(await failureOf(new GuardedTransport(transport, refuse, options).request(patch))).toBe(refusal);
    expect(await failureOf(new GuardedTransport(transport, () => {}, options).request(patch))).toMatchObject({
      reason: 'NotOwner',
      status: undefined,
      message: 'PATCH /p: no time is left for a write of this process',
    });
    expect(asked).toEqual([]);
  });

  it.each([
    ['transport', () => new GuardedTransport({} as KubeTransport, refuse)],
    ['guard', () => new GuardedTransport(notingTransport().transport, 'no' as unknown as () => void)],
    ['writeLimitMs', () => new GuardedTransport(notingTransport().transport, refuse, { writeLimitMs: 5 as never })],
    ['limit', () => new GuardedTransport(notingTransport().transport, refuse, { limit: 5 } as object)],
  ])('names a wrong %s', (name, make) => {
    expect(make).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringContaining(name) }));
  });
});

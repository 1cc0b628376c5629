import { describe, expect, it } from 'vitest';
import { FairTurns } from '../../../../src/base/concurrency/fair-turns.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import type { KubeRequest } from '../../../../src/client/transport/kube-transport.ts';
import { TurnTransport } from '../../../../src/client/transport/turn-transport.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { failureOf } from './scripted-server.ts';

/** Transports of two keys over one that answers when a test says so. */
function world() {
  const asked: string[] = [];
  const answers: PromiseWithResolvers<Record<string, never>>[] = [];
  const transport = {
    request: ({ path }: KubeRequest) => {
      asked.push(path);
      const answer = Promise.withResolvers<Record<string, never>>();
      answers.push(answer);
      return answer.promise;
    },
    stream: async ({ path }: { readonly path: string }) => void asked.push(path),
  };
  const turns = new FairTurns({ concurrency: 1, clock: new FakeClock() });
  const isUrgent = ({ path }: KubeRequest): boolean => path.endsWith('lease');
  const of = (key: string) => new TurnTransport(transport, { turns, key, isUrgent });
  const answer = async (): Promise<void> => {
    answers.shift()?.resolve({});
    await settle();
  };
  return { asked, answers, answer, a: of('a'), b: of('b') };
}
const get = (path: string, signal?: AbortSignal): KubeRequest => ({ method: 'GET', path, signal });

describe('TurnTransport', () => {
  it('sends requests in turn by key, urgent ones first, and streams at once', async () => {
    const { asked, answer, a, b } = world();
    const all = [a.request(get('/a1')), a.request(get('/a2')), a.request(get('/a3')), b.request(get('/b1'))];
    all.push(b.request(get('/lease')));
    await settle();
    await a.stream({ ...get('/watch'), idleTimeoutMs: 1, onChunk: () => {} });
    for (let i = 0; i < 5; i += 1) await answer();
    await Promise.all(all);
    expect(asked).toEqual(['/a1', '/watch', '/lease', '/a2', '/b1', '/a3']);
  });

  it.each([
    ['Aborted', 'aborted', new Error('enough')],
    ['Timeout', 'timed out', new DOMException('late', 'TimeoutError')],
  ])('fails with %s where its signal ends the wait', async (reason, words, cause) => {
    const { asked, answer, a, b } = world();
    const first = a.request(get('/a1'));
    const stop = new AbortController();
    const failure = failureOf(b.request(get('/b1', stop.signal)));
    await settle();
    stop.abort(cause);
    expect(await failure).toMatchObject({
      reason,
      cause,
      message: `GET /b1: ${words} by the caller while it waited for its turn`,
    });
    await answer();
    await first;
    expect(asked).toEqual(['/a1']);
  });

  it('fails as the transport does, once it has its turn', async () => {
    const { answers, a } = world();
    const stop = new AbortController();
    const failure = failureOf(a.request(get('/a1', stop.signal)));
    await settle();
    stop.abort();
    const error = new ApiError({ reason: 'Aborted', message: 'by the transport' });
    answers[0]?.reject(error);
    expect(await failure).toBe(error);
  });
});

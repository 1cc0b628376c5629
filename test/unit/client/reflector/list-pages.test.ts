import { describe, expect, it } from 'vitest';
import type { KubeRequest } from '../../../../src/client/transport/kube-transport.ts';
import { configMap, refusal, setUp } from './fake-api.ts';

/** A server whose pages a test makes: `page` gets the number of the request and its continue token. */
function paged(page: (number: number, token: string | null) => { names: readonly string[]; next?: string | undefined }) {
  const test = setUp({ streamLists: false });
  let requests = 0;
  test.api.request = async ({ query }: KubeRequest) => {
    const { names, next } = page(requests, query?.get('continue') ?? null);
    requests += 1;
    // a server that never comes to an end would hold the test up without one
    if (requests > 5000) return new Promise(() => {});
    return { metadata: { resourceVersion: '10', continue: next }, items: names.map((name) => configMap(name, '5')) };
  };
  return { ...test, requests: () => requests };
}

describe('a list in pages that never ends', () => {
  it.each([
    ['every page is the first one', () => ({ names: ['a'], next: 'again' }), 2, 'two pages have the same continue token'],
    [
      'the tokens go round',
      (number: number) => ({ names: [`c${number}`], next: `token-${number % 3}` }),
      4,
      'two pages have the same continue token',
    ],
    [
      'pages bring nothing, each with a token of its own',
      (number: number) => ({ names: [], next: `token-${number}` }),
      100,
      '100 pages in a row brought no further object',
    ],
    [
      'pages bring the same objects, each with a token of its own',
      (number: number) => ({ names: ['a', 'b'], next: `token-${number}` }),
      101,
      '100 pages in a row brought no further object',
    ],
    ['a token is endless', () => ({ names: ['a'], next: 'x'.repeat(8193) }), 1, 'a continue token of 8193 characters'],
  ])('is given up when %s, and asked for again after a pause', async (_how, page, requests, why) => {
    const test = paged(page);
    const started = test.reflector.start().catch(() => {});
    await test.settle(1000);
    expect(test.requests()).toBe(requests);
    expect(test.interruptions).toMatchObject([{ error: { reason: 'BrokenAnswer' }, delayMs: 250 }]);
    expect(test.interruptions[0]?.error).toMatchObject({ message: expect.stringContaining(why) });
    await test.reflector.stop();
    await started;
  });

  it('is asked for in one piece once only, when the server forgets each page after it', async () => {
    const test = setUp({ streamLists: false });
    let requests = 0;
    test.api.request = async ({ query }: KubeRequest) => {
      requests += 1;
      if (requests > 100) return new Promise(() => {});
      if (query?.has('continue')) throw refusal(410, 'Expired');
      return { metadata: { resourceVersion: '10', continue: `token-${requests}` }, items: [configMap('a', '5')] };
    };
    const started = test.reflector.start().catch(() => {});
    await test.settle(1000);
    // twice of each: a list that has expired is read once more at once
    expect(requests).toBe(8);
    expect(test.interruptions).toMatchObject([{ error: { reason: 'Expired' } }]);
    await test.reflector.stop();
    await started;
  });
});

describe('a list in pages', () => {
  it('may have pages without an object, and more pages than that in all', async () => {
    const test = paged((number) => ({
      names: number % 50 === 0 ? [`c${number}`] : [],
      next: number < 300 ? `token-${number}` : undefined,
    }));
    const started = test.reflector.start();
    await test.settle(2000);
    await started;
    expect(test.names()).toHaveLength(7);
    await test.reflector.stop();
  });

  it('shows the last copy of an object that came on two pages, and leaves out what the last one leaves out', async () => {
    const { api, ...test } = setUp({
      streamLists: false,
      transform: (object) => (object.data?.v === 'hidden' ? undefined : object),
    });
    api.answers.push(
      { metadata: { resourceVersion: '12', continue: 'two' }, items: [configMap('a', '11'), configMap('b', '11')] },
      { metadata: { resourceVersion: '12' }, items: [configMap('a', '12'), configMap('b', '12', 'hidden')] },
    );
    await test.reflector.start();
    expect(test.names()).toEqual(['a 12']);
    await test.reflector.stop();
  });
});

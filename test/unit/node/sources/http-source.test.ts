import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { HttpSource, type HttpSourceOptions } from '../../../../src/node.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { type Script, scriptedServer } from '../../client/transport/scripted-server.ts';
import { manifestList, manifestOf, yamlOf } from './manifests.ts';
import { recordedLog, SentLists } from './sent-lists.ts';

type Answer = (response: ServerResponse) => void;

function answer(body: string | Buffer, { status = 200, headers = {} } = {}): Answer {
  return (response) => {
    response.writeHead(status, headers);
    response.end(body);
  };
}

/** A source over a server that gives these answers in turn; the last one stays. */
async function setUp(answers: Answer[], options: Partial<HttpSourceOptions> = {}) {
  const script: Script = (_request, response) => (answers.length > 1 ? answers.shift() : answers[0])?.(response);
  const server = await scriptedServer(script);
  const clock = new FakeClock();
  const { lines, logger } = recordedLog();
  const asked: object[] = [];
  const debug = (fields: object, message: string): void => {
    // a line a request is not what these tests count
    if (message === 'the pods of the URL were asked for') asked.push(fields);
    else logger.debug(fields, message);
  };
  const source = new HttpSource({
    url: `${server.url}/pods?token=secret`,
    nodeName: 'n1',
    clock,
    logger: { ...logger, debug },
    ...options,
  });
  const sent = new SentLists();
  /** What each request changes: a good one the time, a bad one the log. */
  const state = (): string => `${source.lastObservedAt()} ${lines.length}`;
  const request = async (begin: () => unknown): Promise<void> => {
    const before = state();
    await begin();
    await until(() => state() !== before);
    await settle();
  };
  return {
    ...{ server, clock, source, sent, lines, asked },
    start: () => request(() => source.start(sent.send)),
    /** Lets one more request be made, and answered. */
    next: () => request(() => clock.advance(20_000)),
    async [Symbol.asyncDispose]() {
      await source.stop();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('HttpSource', () => {
  it('sends one pod, or a list of pods, as static pods of its node', async () => {
    await using test = await setUp([answer(yamlOf('a')), answer(manifestList('b', 'c')), answer(manifestOf('d'))]);
    await test.start();
    await test.next();
    await test.next();
    expect(test.sent.names()).toEqual(['a-n1', 'b-n1 c-n1', 'd-n1']);
    const [pod] = test.sent.latest();
    expect(pod?.metadata?.annotations?.['kubernetes.io/config.hash']).toBe(pod?.metadata?.uid);
    expect([pod?.spec?.nodeName, pod?.spec?.tolerations]).toEqual(['n1', undefined]);
    expect(test.source.lastObservedAt()).toBe(test.clock.now());
    expect(test.lines).toEqual([]);
    const url = expect.not.stringContaining('secret');
    expect(test.asked).toEqual([1, 2, 1].map((pods) => ({ url, status: 200, pods })));
  });

  it('says nothing of an answer that has not changed', async () => {
    await using test = await setUp([answer(manifestOf('a'))]);
    await test.start();
    await test.next();
    await test.next();
    expect([test.server.seen.length, test.sent.names()]).toEqual([3, ['a-n1']]);
  });

  it('asks with the ETag of the last good answer, and believes that nothing has changed', async () => {
    const headers = { etag: '"one"' };
    await using test = await setUp([
      answer(manifestOf('a'), { headers }),
      answer('', { status: 304 }),
      answer('broken', { headers: { etag: '"two"' } }),
      answer('', { status: 304 }),
      answer(manifestOf('b')),
      answer(manifestOf('b')),
    ]);
    await test.start();
    for (let i = 0; i < 5; i += 1) await test.next();
    const asked = test.server.seen.map(({ headers: { 'if-none-match': etag } }) => etag);
    expect(asked).toEqual([undefined, '"one"', '"one"', '"one"', '"one"', undefined]);
    expect(test.sent.names()).toEqual(['a-n1', 'b-n1']);
    expect(test.lines).toHaveLength(2);
  });

  it('believes no 304 that it has not asked for', async () => {
    await using test = await setUp([answer('', { status: 304 })]);
    await test.start();
    expect([test.sent.lists, test.lines.length, test.source.lastObservedAt()]).toEqual([[], 1, undefined]);
  });

  it('keeps the pods through failures: other statuses, broken manifests, one bad pod of a list, an answer too long', async () => {
    const bad = manifestList('b', 'c').replace('"name":"c"', '"name":"C!"');
    await using test = await setUp(
      [
        answer(manifestOf('a')),
        answer('no', { status: 500 }),
        answer(manifestOf('b'), { status: 404 }),
        answer('{'),
        answer(bad),
        answer(manifestOf('a').padEnd(2001)),
        answer(Buffer.from([0xff])),
        (response) => void response.socket?.destroy(),
        answer(manifestOf('a').padEnd(2000)),
      ],
      { maxBytes: 2000 },
    );
    await test.start();
    const heardAt = test.source.lastObservedAt();
    for (let i = 0; i < 7; i += 1) await test.next();
    expect([test.sent.names(), test.source.lastObservedAt()]).toEqual([['a-n1'], heardAt]);
    const failedAt = test.clock.now();
    const [at, retryAt, since] = [failedAt, failedAt + 20_000, failedAt - 120_000];
    expect(test.source.lastFailure()).toEqual({ error: expect.any(Error), at, retryAt, since, attempt: 7 });
    expect(String(test.source.lastFailure()?.error)).not.toContain('secret');
    await test.next();
    expect(test.source.lastFailure()).toBeUndefined();
    expect(test.source.lastObservedAt()).toBe(test.clock.now());
  });

  it('counts a bad answer as a failure each time it comes', async () => {
    await using test = await setUp([answer(manifestOf('a')), answer('{')]);
    await test.start();
    const heardAt = test.source.lastObservedAt();
    for (let i = 0; i < 3; i += 1) await test.next();
    expect([test.lines.length, test.source.lastObservedAt()]).toEqual([3, heardAt]);
  });

  it('logs three failures, announces with the fourth that it will be quiet, and tells of the recovery', async () => {
    const answers = Array.from({ length: 6 }, () => answer('no', { status: 503 }));
    await using test = await setUp([...answers, answer(manifestOf('a'))]);
    await test.start();
    for (let i = 0; i < 6; i += 1) await test.next();
    const levels = test.lines.map((line) => line.split(':')[0]);
    expect(levels).toEqual(['warn', 'warn', 'warn', 'warn', 'debug', 'debug', 'info']);
    expect(test.lines[3]).toMatch(/for debugging alone/);
  });

  it('takes an empty answer for no pods, each time with a log, and sends the pods again when they are back', async () => {
    await using test = await setUp([answer(manifestOf('a')), answer(''), answer(''), answer(manifestOf('a'))]);
    await test.start();
    await test.next();
    await test.next();
    await test.next();
    expect([test.sent.names(), test.lines.length]).toEqual([['a-n1', '', '', 'a-n1'], 3]);
  });

  it('brings its headers, and the user of its URL', async () => {
    await using plain = await setUp([answer(manifestOf('a'))], { headers: { 'X-Token': 'one', Authorization: 'Bearer two' } });
    await plain.start();
    expect(plain.server.seen[0]?.headers).toMatchObject({ 'x-token': 'one', authorization: 'Bearer two' });
    expect(plain.server.seen[0]?.url).toBe('/pods?token=secret');
    const url = plain.server.url.replace('://', '://us%40er:pass@');
    await using withUser = await setUp([answer('')], { url });
    await withUser.start();
    const basic = `Basic ${Buffer.from('us@er:pass').toString('base64')}`;
    expect(plain.server.seen[1]?.headers.authorization).toBe(basic);
  });

  it('follows redirects, and tells another origin nothing', async () => {
    await using other = await scriptedServer((_request, response) => answer(manifestOf('a'))(response));
    const away = answer('', { status: 302, headers: { location: `${other.url}/there` } });
    const near = answer('', { status: 307, headers: { location: '/near' } });
    const headers = { 'X-Token': 'one', Accept: 'application/yaml' };
    await using test = await setUp([near, away], { headers });
    await test.start();
    expect(test.sent.names()).toEqual(['a-n1']);
    expect(test.server.seen.map(({ url, headers: sent }) => [url, sent['x-token']])).toEqual([
      ['/pods?token=secret', 'one'],
      ['/near', 'one'],
    ]);
    const [seen] = other.seen;
    expect([seen?.url, seen?.headers.accept, seen?.headers['x-token']]).toEqual(['/there', 'application/yaml', undefined]);
  });

  it.each([
    ['an endless redirect', { location: '/pods' }, 11],
    ['a redirect to another protocol', { location: 'file:///etc/passwd' }, 1],
    ['a redirect to nowhere', {}, 1],
  ])('fails at %s', async (_, headers, requests) => {
    await using test = await setUp([answer('', { status: 301, headers })]);
    await test.start();
    expect([test.sent.lists, test.lines.length, test.server.seen.length]).toEqual([[], 1, requests]);
  });

  it('gives up an answer that takes longer than its timeout', async () => {
    await using test = await setUp([(response) => void response.writeHead(200).write('api'), answer(manifestOf('a'))]);
    test.source.start(test.sent.send);
    await until(() => test.server.seen.length === 1);
    await test.clock.advance(9_999);
    expect(test.lines).toEqual([]);
    await test.clock.advance(1);
    await until(() => test.lines.length === 1);
    await test.next();
    expect(test.sent.names()).toEqual(['a-n1']);
  });

  it('ends with a request under way, without a timer, a socket or a list after that', async () => {
    await using test = await setUp([() => {}]);
    test.source.start(test.sent.send);
    await until(() => test.server.seen.length === 1);
    await test.source.stop();
    await until(() => test.server.connections.open.size === 0);
    expect([test.sent.lists, test.lines, test.clock.pendingTimers, test.source.state]).toEqual([[], [], 0, 'stopped']);
    expect(() => test.source.start(test.sent.send)).toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }));
  });

  it.each([
    ['a status', answer('no', { status: 500 })],
    ['a broken manifest', answer('{ "apiVersion": "v1" }')],
    ['a broken answer', (response: ServerResponse) => void response.socket?.destroy()],
  ])('logs no password, no query and no header with %s', async (_, script) => {
    const texts: string[] = [];
    const log = (fields: object, message: string): void => void texts.push(`${inspect(fields, { depth: 9 })}${message}`);
    const logger = { debug: log, info: log, warn: log, error: log };
    await using server = await scriptedServer((_request, response) => script(response));
    const url = `${server.url.replace('://', '://user:secret@')}/pods?token=secret`;
    const headers = { 'X-Token': 'secret' };
    await using source = new HttpSource({ url, headers, nodeName: 'n1', clock: new FakeClock(), logger });
    source.start(() => {});
    await until(() => texts.length === 1);
    expect(texts[0]).toContain('/pods');
    expect(texts[0]).not.toContain('secret');
  });

  it.each([
    [{ url: 'ftp://x/y' }, /`url`/],
    [{ url: 'nothing' }, /`url`/],
    [{ url: 'http://%ff@x/' }, /`url`/],
    [{ headers: { 'a b': 'x' } }, /`headers`/],
    [{ headers: { a: 'secret\nb: c' } }, /`headers.a`/],
    [{ headers: 'x' }, /`headers`/],
    [{ nodeName: 7 }, /`nodeName`/],
    [{ checkPeriodMs: -1 }, /`checkPeriodMs`/],
    [{ timeoutMs: 0 }, /`timeoutMs`/],
    [{ maxBytes: 1.5 }, /`maxBytes`/],
    [{ clock: {} }, /`clock`/],
    [{ period: 1 }, /`options.period`/],
  ])('refuses the options %j', (options, message) => {
    const make = (): HttpSource => new HttpSource({ url: 'http://x/', nodeName: 'n1', ...options } as never);
    expect(make).toThrow(message);
    expect(make).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
    expect(make).not.toThrow(/secret/);
  });
});

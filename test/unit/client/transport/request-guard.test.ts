import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { constants } from 'node:http2';
import { describe, expect, it } from 'vitest';
import { type KubeRequest, KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { printCredential, scratch, shellPlugin } from '../credentials/shell-plugin.ts';
import { type Http2Script, http2Server } from './http2-server.ts';
import { rawServer } from './raw-server.ts';
import { failureOf, kubeConfigFor, scriptedServer, sendJson } from './scripted-server.ts';
import { base64 } from './self-signed.ts';

const patch: KubeRequest = { method: 'PATCH', path: '/p', body: { status: {} } };

/** A guard that says yes until it is told otherwise, and counts how often it is asked. */
function switchedGuard() {
  const refusal = new Error('no longer');
  const told = { asked: 0, isOpen: true, refusal };
  const guard = (): void => {
    told.asked += 1;
    if (!told.isOpen) throw refusal;
  };
  return Object.assign(told, { guard });
}

describe('The guard of a request', () => {
  it('is asked when a place in the pool comes free: the server sees nothing of what it refuses, and the socket goes on', async () => {
    await using server = await rawServer();
    await using transport = new KubeTransport(kubeConfigFor(server.url), { connections: 1 });
    const owner = switchedGuard();
    const slow = transport.request({ ...patch, path: '/slow', guard: owner.guard });
    await until(() => server.text().includes('/slow'));
    const waiting = failureOf(transport.request({ ...patch, path: '/waiting', guard: owner.guard }));
    const next = transport.request({ ...patch, path: '/next' });
    await settle(20);
    expect(owner.asked).toBe(1);
    owner.isOpen = false;
    server.answer();
    await slow;
    expect(await waiting).toBe(owner.refusal);
    await until(() => server.text().includes('/next'));
    server.answer();
    await next;
    expect([server.text().includes('/waiting'), server.sockets.length, owner.asked]).toEqual([false, 1, 2]);
  });

  it('is asked in the turn in which the request is written', async () => {
    await using server = await rawServer();
    await using transport = new KubeTransport(kubeConfigFor(server.url));
    let isSameTurn = false;
    const writtenInTurn: boolean[] = [];
    const onWrite = (): void => void writtenInTurn.push(isSameTurn);
    // undici tells of each request right before it gives its bytes to the socket
    subscribe('undici:client:sendHeaders', onWrite);
    const guard = (): void => {
      isSameTurn = true;
      queueMicrotask(() => {
        isSameTurn = false;
      });
    };
    const answer = transport.request({ ...patch, guard });
    await until(() => server.text() !== '');
    unsubscribe('undici:client:sendHeaders', onWrite);
    server.answer();
    await answer;
    expect(writtenInTurn).toEqual([true]);
  });

  it('is asked after a credential plugin that takes its time', async () => {
    using files = scratch();
    const script = `echo run > "$1/runs"; until [ -e "$1/go" ]; do [ -d "$1" ] || exit 1; sleep 0.01; done\n${printCredential('{"token":"A"}')}`;
    await using server = await rawServer();
    const kubeConfig = kubeConfigFor(server.url, { exec: shellPlugin(script, { args: [files.folder] }) });
    await using transport = new KubeTransport(kubeConfig);
    const owner = switchedGuard();
    const refused = failureOf(transport.request({ ...patch, guard: owner.guard }));
    await until(() => files.lines('runs') === 1);
    expect(owner.asked).toBe(0);
    owner.isOpen = false;
    files.write('go', '');
    expect(await refused).toBe(owner.refusal);
    expect([owner.asked, server.text()]).toEqual([1, '']);
  });

  it('sends nothing where it ends the request by its signal', async () => {
    await using server = await rawServer();
    await using transport = new KubeTransport(kubeConfigFor(server.url));
    const stop = new AbortController();
    const failure = failureOf(transport.request({ ...patch, signal: stop.signal, guard: () => stop.abort() }));
    expect(await failure).toMatchObject({ reason: 'Aborted' });
    await settle(20);
    expect(server.text()).toBe('');
  });

  it.each([
    [
      'throws nothing',
      () => {
        throw undefined;
      },
    ],
    ['answers with a promise', () => Promise.resolve() as unknown as undefined],
    ['answers with a promise that rejects', () => Promise.reject(new Error('late')) as unknown as undefined],
  ])('refuses where it %s', async (_, guard) => {
    await using server = await rawServer();
    await using transport = new KubeTransport(kubeConfigFor(server.url));
    expect(await failureOf(transport.request({ ...patch, guard }))).toBeInstanceOf(Error);
    await settle(20);
    expect(server.text()).toBe('');
  });

  it('is a function', async () => {
    await using server = await scriptedServer((_request, response) => sendJson(response, {}));
    await using transport = new KubeTransport(kubeConfigFor(server.url));
    const guard = 'yes' as unknown as () => void;
    const streamed = transport.stream({ ...patch, guard, idleTimeoutMs: 1000, onChunk: () => {} });
    for (const failure of [transport.request({ ...patch, guard }), streamed])
      expect(await failureOf(failure)).toMatchObject({ code: 'ERR_INVALID_OPTION', message: expect.stringContaining('guard') });
    expect(server.seen).toHaveLength(0);
  });
});

describe('The guard of a request over HTTP/2', () => {
  const { NGHTTP2_REFUSED_STREAM } = constants;
  const request: KubeRequest = { ...patch, besideStreams: true };

  it('keeps its request from the server, and leaves the connection to the others', async () => {
    const script: Http2Script = ({ stream }) => {
      stream.respond({ ':status': 200 });
      stream.end('{}');
    };
    await using server = await http2Server(script);
    await using transport = new KubeTransport(kubeConfigFor(server.url, {}, { caData: base64(server.caPem) }));
    const owner = switchedGuard();
    await transport.request({ ...request, guard: owner.guard });
    owner.isOpen = false;
    expect(await failureOf(transport.request({ ...request, path: '/late', guard: owner.guard }))).toBe(owner.refusal);
    await transport.request({ ...request, path: '/other' });
    expect(server.seen.map(({ headers }) => headers[':path'])).toEqual(['/p', '/other']);
    expect(server.sessions).toHaveLength(1);
  });

  it('is asked again before a request is sent once more that the server has refused unseen', async () => {
    const owner = switchedGuard();
    const script: Http2Script = ({ stream }) => {
      owner.isOpen = false;
      stream.close(NGHTTP2_REFUSED_STREAM);
    };
    await using server = await http2Server(script);
    await using transport = new KubeTransport(kubeConfigFor(server.url, {}, { caData: base64(server.caPem) }));
    expect(await failureOf(transport.request({ ...request, guard: owner.guard }))).toBe(owner.refusal);
    await settle(20);
    expect([server.seen.length, owner.asked]).toEqual([1, 2]);
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ResourceTransport } from '../../../../src/client/resources/resource-client.ts';
import { KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { ApiServerSource, SharedWatches } from '../../../../src/node.ts';
import { InMemoryApiServer } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import { until } from '../../../support/until.ts';
import { SentLists } from './sent-lists.ts';

let server: InMemoryApiServer;
let transport: KubeTransport;
let shared: SharedWatches;
let sources: ApiServerSource[];
beforeEach(async () => {
  server = await InMemoryApiServer.start({ bookmarkIntervalMs: 50 });
  transport = new KubeTransport(server.kubeConfig(), { logger: null });
  shared = new SharedWatches({ transport, logger: null });
  sources = [];
});
afterEach(async () => {
  await Promise.all(sources.map((source) => source.stop()));
  await shared.stop();
  await transport.close();
  await server.stop();
});

const containers = [{ name: 'app', image: 'app:1' }];
const create = (name: string, nodeName: string, metadata: object = {}) =>
  server.store.create({ metadata: { name, ...metadata }, spec: { nodeName, containers } });

const remove = (name: string) => server.store.delete('default', name, { gracePeriodSeconds: 0 });

function sourceOf(nodeName: string, over: ResourceTransport = transport): SentLists & { readonly source: ApiServerSource } {
  const source = new ApiServerSource({
    ...{ nodeName, logger: null, streamLists: false, random: () => 0 },
    transport: shared.podsOf(nodeName, over),
  });
  sources.push(source);
  const sent = new SentLists();
  source.start(sent.send);
  return Object.assign(sent, { source });
}
const newest = (sent: SentLists): string | undefined => sent.names().at(-1);

describe('a shared watch', () => {
  it('is one for all readers, each of which hears of its own pods alone, whatever labels others give theirs', async () => {
    create('old', 'n1');
    const [first, second] = [sourceOf('n1'), sourceOf('n2')];
    await until(() => newest(first) === 'old' && newest(second) === '');
    create('other', 'elsewhere', { labels: { nodeName: 'n1' } });
    create('unbound', '', { labels: { nodeName: 'n1' } });
    create('a', 'n1', { labels: { nodeName: 'n2' } });
    create('b', 'n2');
    await until(() => newest(first) === 'old a' && newest(second) === 'b');
    remove('old');
    await until(() => newest(first) === 'a');
    expect([server.countOpenWatches(), shared.readers]).toEqual([1, 2]);
    expect([...first.names(), ...second.names()].join(' ')).not.toMatch(/other|unbound/);
  });

  it('brings what happens between the list of a reader and its watch, once', async () => {
    create('listed', 'n1');
    const [answered, letOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const sent = sourceOf('n1', {
      stream: (stream) => transport.stream(stream),
      async request(request) {
        const answer = await transport.request(request);
        answered.resolve();
        await letOn.promise;
        return answer;
      },
    });
    await answered.promise;
    create('between', 'n1');
    remove('listed');
    const witness = sourceOf('n1');
    await until(() => newest(witness) === 'between');
    letOn.resolve();
    await until(() => newest(sent) === 'between');
    expect(sent.names()[0]).toBe('listed');
    expect(sent.names()).not.toContain('');
  });

  it('goes on after it was cut, and tells each reader why meanwhile', async () => {
    const sent = sourceOf('n1');
    await until(() => server.countOpenWatches() === 1);
    const refusal = server.fail({ verb: 'watch', resource: 'pods', fault: { kind: 'status', code: 503 }, times: 1e9 });
    server.dropWatches({ kind: 'reset' });
    await until(() => (sent.source.lastFailure()?.error as { status?: number } | undefined)?.status === 503);
    create('meanwhile', 'n1');
    refusal.remove();
    await until(() => newest(sent) === 'meanwhile');
    await until(() => sent.source.lastFailure() === undefined && server.countOpenWatches() === 1);
  });

  it('makes its readers list again where the server has forgotten what happened', async () => {
    const sent = sourceOf('n1');
    await until(() => server.countOpenWatches() === 1);
    const listed = sent.source.lastListedAt();
    server.dropWatches({ kind: '410' });
    create('unseen', 'n1');
    await until(() => newest(sent) === 'unseen');
    await until(() => (sent.source.lastListedAt() ?? 0) > (listed ?? 0));
  });

  it('tells a reader that starts why there is no watch, and begins it once the server lets it', async () => {
    const refusal = server.fail({ verb: 'list', resource: 'pods', fault: { kind: 'status', code: 403 }, times: 1e9 });
    const sent = sourceOf('n1');
    await until(() => sent.source.lastFailure() !== undefined);
    expect([sent.lists.length, server.countOpenWatches()]).toEqual([0, 0]);
    refusal.remove();
    await until(() => newest(sent) === '');
  });

  it('keeps nothing of a reader that has gone, also of one that never got to its watch', async () => {
    const sent = sourceOf('n1');
    await until(() => newest(sent) === '');
    await until(() => shared.readers === 1);
    const refusal = server.fail({ verb: 'list', resource: 'pods', fault: { kind: 'status', code: 500 }, times: 1e9 });
    const late = sourceOf('n2');
    await until(() => late.source.lastFailure() !== undefined);
    await Promise.all([sent.source.stop(), late.source.stop()]);
    refusal.remove();
    expect(shared.readers).toBe(0);
    create('nobody', 'n1');
    const again = sourceOf('n1');
    await until(() => newest(again) === 'nobody');
  });

  it('ends with every reader, and takes none afterwards', async () => {
    const sent = sourceOf('n1');
    await until(() => newest(sent) === '');
    await shared.stop();
    await until(() => sent.source.lastFailure() !== undefined);
    expect(sent.source.lastFailure()?.error).toMatchObject({ code: 'ERR_STOPPED' });
    expect(shared.readers).toBe(0);
    await until(() => server.countOpenWatches() === 0);
  });
});

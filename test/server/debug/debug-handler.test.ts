import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildRunningStatus, buildTerminatedStatus } from '../../../src/testing/fakes/builders.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { until } from '../../support/until.ts';
import { TestNode } from '../manager/manager-fixture.ts';
import { ProviderNodeFixture } from '../provider/provider-fixture.ts';
import { ServedDebug } from './served-debug.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('debug');
});
afterAll(() => server.stop());

describe('the debug handler over a status manager', () => {
  it('shows a pod’s life as it happens, and afterwards what was on the wire', async () => {
    await using node = await TestNode.start(server, namespace, { concurrency: 1 });
    await using debug = await ServedDebug.start({ manager: node.manager });
    const rows = debug.rows();
    const next = async (): Promise<Awaited<ReturnType<typeof rows.next>>['value']> => (await rows.next()).value;
    const pod = await node.create('watched');
    const { uid } = pod.metadata;
    node.manager.setPodStatus(pod, buildRunningStatus(pod));
    let seen = await next();
    while (seen?.row?.sync !== 'in-sync') seen = await next();
    expect(seen.row).toMatchObject({ podUID: uid, namespace, name: 'watched', phase: 'Running', ready: true, version: 1 });

    await node.askToDelete('watched');
    const deleting = await node.seen(uid, (shown) => shown.metadata?.deletionTimestamp !== undefined);
    node.manager.setPodStatus(deleting, buildTerminatedStatus(deleting));
    node.manager.terminatePod(deleting);
    while (seen?.row !== undefined || seen.podUID !== uid) seen = await next();
    expect(await node.isGone('watched')).toBe(true);

    const { timeline, row, status } = await debug.pod(uid);
    expect([row.sync, status]).toEqual(['unknown', undefined]);
    const requests = timeline.filter((entry) => entry.kind === 'request');
    expect(requests.map(({ verb, result }) => `${verb} ${result}`)).toEqual(['patch ok', 'patch ok', 'delete ok']);
    expect(requests.slice(0, 2).map(({ body }) => body)).toEqual(node.client.patches.map(({ body }) => body));
    expect(requests[0]?.bytes).toBe(JSON.stringify(node.client.patches[0]?.body).length);
    const kinds = timeline.map(({ kind }) => kind);
    expect(kinds.slice(0, 3)).toEqual(['set', 'request', 'synced']);
    expect(kinds).toContain('removed');
    const { traffic, summary } = await debug.snapshot();
    expect(traffic.reduce((sum, { patches, deletes }) => sum + patches + deletes, 0)).toBe(3);
    expect(summary).toMatchObject({ state: 'running', pods: 0, inFlight: 0 });
  });

  it('shows why the apiserver refuses a status', async () => {
    await using node = await TestNode.start(server, namespace);
    await using debug = await ServedDebug.start({ manager: node.manager });
    const pod = await node.create('refused');
    node.manager.setPodStatus(pod, buildRunningStatus(pod, { qosClass: 'Guaranteed' }));
    await node.manager.flush();
    const { row, reason, differs, timeline } = await debug.pod(pod.metadata.uid);
    expect(row).toMatchObject({ sync: 'quarantined', attempt: 1, acknowledgedVersion: 0 });
    expect(reason).toContain('status.qosClass');
    expect(differs).toContain('/qosClass');
    expect(timeline.flatMap((entry) => (entry.kind === 'request' ? `${entry.verb} ${entry.result}` : []))).toEqual([
      'patch invalid',
      'get ok',
      'patch invalid',
    ]);
    expect(timeline.at(-1)).toMatchObject({ kind: 'error', errorClass: 'invalid', attempt: 1 });
    expect((await debug.snapshot()).traffic.reduce((sum, { failed }) => sum + failed, 0)).toBe(2);
    const text = await debug.text(`pods/${pod.metadata.uid}`);
    expect(text).toMatch(/^sync +quarantined: the apiserver refuses this status.*status\.qosClass/m);
    expect(text).toMatch(/ {2}request {2}PATCH invalid, took .* ms, \d+ bytes\n {4}.*status\.qosClass/);
  });
});

describe('the debug handler over a provider node', () => {
  it('shows the node, and what it knows of a pod', async () => {
    await using fixture = await ProviderNodeFixture.start(server, namespace);
    const { node } = fixture;
    await using debug = await ServedDebug.start({ manager: node.statusManager, node });
    const { metadata } = await fixture.create('provided');
    await fixture.ready('provided');
    await node.statusManager.flush();
    // the static pods may be listed later than the apiserver's
    await until(async () => (await debug.snapshot()).summary.node?.problemCount === 0);
    const { summary, pods } = await debug.snapshot();
    expect(summary.node).toEqual({
      name: fixture.name,
      state: 'running',
      ready: true,
      registered: true,
      notes: [],
      problemCount: 0,
    });
    expect(pods).toMatchObject([{ podUID: metadata.uid, sync: 'in-sync', phase: 'Running', ready: true }]);
    const { node: lines } = await debug.pod(metadata.uid);
    const names = lines.map(([name]) => name);
    expect(lines).toContainEqual(['isHeld', 'true']);
    expect(lines).toContainEqual(['source', 'api']);
    expect(names).toContain('askedAt');
    expect(names.some((name) => name.startsWith('status'))).toBe(false);
    expect(await debug.text()).toMatch(new RegExp(`^node {7}${fixture.name} running, registered, ready$`, 'm'));
  });
});

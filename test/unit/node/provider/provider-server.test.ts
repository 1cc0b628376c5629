import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ProviderNode } from '../../../../src/node/provider/provider-node.ts';
import { InMemoryApiServer } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import { until } from '../../../support/until.ts';
import { servedNode, servingFiles } from './served-node.ts';

const provider = { createPod() {}, deletePod() {}, getPodStatus: () => ({ phase: 'Running' }) };
const summary = {
  node: { nodeName: 'served', startTime: '2026-01-01T00:00:00Z' },
  pods: [
    {
      podRef: { name: 'web', namespace: 'default', uid: 'u' },
      startTime: '2026-01-01T00:00:00Z',
      cpu: { time: '2026-01-01T00:00:00Z', usageCoreNanoSeconds: 2e9 },
      containers: [],
    },
  ],
};

describe('the API of a provider node', () => {
  it('is told to the cluster: its port, and that it takes WebSockets', async () => {
    const { status, port } = await servedNode({ declaredFeatures: ['RestartAllContainersOnContainerExits', 'Abc'] });
    expect(port).toBeGreaterThan(0);
    const features = ['Abc', 'ExtendWebSocketsToKubelet', 'RestartAllContainersOnContainerExits'];
    expect((status() as { declaredFeatures?: string[] }).declaredFeatures).toEqual(features);
  });

  it('leaves the endpoints that are given', async () => {
    const { status } = await servedNode({ daemonEndpoints: { kubeletEndpoint: { Port: 7 } } });
    expect(status()?.daemonEndpoints?.kubeletEndpoint?.Port).toBe(7);
  });

  it('shows the pods with their statuses, those that run, the health and the metrics', async () => {
    const { get, clock, node, uid } = await servedNode({ metricsText: () => 'up 1\n' });
    await until(async () => {
      await clock.advance(100);
      return node.statusManager.getPodStatus(uid)?.phase === 'Running';
    });
    const pods = JSON.parse((await get('/pods')).text) as { items: { metadata: { name: string }; status: { phase: string } }[] };
    expect(pods.items.map(({ metadata, status }) => [metadata.name, status.phase])).toEqual([['web', 'Running']]);
    const running = await get('/runningpods/');
    expect(JSON.parse(running.text).items).toEqual([{ metadata: { uid, name: 'web', namespace: 'default' } }]);
    expect(await get('/healthz')).toEqual({ status: 200, text: 'ok' });
    expect(await get('/healthz/syncloop')).toEqual({ status: 200, text: 'ok' });
    expect(await get('/metrics')).toEqual({ status: 200, text: 'up 1\n' });
    expect((await get('/configz')).status).toBe(404);
  });

  it('answers nobody who is not known, and nobody who may not ask', async () => {
    const { get, reviews } = await servedNode();
    expect(await get('/pods', 'GET', {})).toEqual({ status: 401, text: 'Unauthorized' });
    reviews.allows = false;
    const { status, text } = await get('/containerLogs/default/web/app');
    expect(status).toBe(403);
    expect(text).toBe('Forbidden (user=apiserver, verb=get, resource=nodes, subresource(s)=[proxy])');
  });

  it.each([
    ['GET', '/containerLogs/default/web/app', 'getContainerLogs()'],
    ['POST', '/run/default/web/app?cmd=ls', 'runInContainer() (a ContainerProvider has it with its option execInContainer)'],
    [
      'POST',
      '/exec/default/web/app?command=ls&output=1',
      'runInContainer() (a ContainerProvider has it with its option execInContainer)',
    ],
    ['POST', '/attach/default/web/app?output=1', 'attachToContainer()'],
    ['POST', '/portForward/default/web', 'portForward() (a ContainerProvider has it with its option portForward)'],
    ['GET', '/stats/summary', 'getStatsSummary() (a ContainerProvider has it with its option containerStats)'],
    [
      'GET',
      '/metrics/resource',
      'getMetricsResource() and no getStatsSummary() (a ContainerProvider has it with its option containerStats)',
    ],
  ])('says what a provider cannot do: %s %s', async (method, path, named) => {
    const { get } = await servedNode();
    const text = `not implemented: the provider of this node has no ${named}`;
    expect(await get(path, method)).toEqual({ status: 501, text });
  });

  it('makes the metrics of resources of the summary, where the provider has none', async () => {
    const { get } = await servedNode({ provider: { getStatsSummary: async () => summary } });
    expect(JSON.parse((await get('/stats/summary')).text)).toEqual(summary);
    const { text } = await get('/metrics/resource');
    expect(text).toContain('pod_cpu_usage_seconds_total{namespace="default",pod="web"} 2 ');
    expect(text).toContain('resource_scrape_error 0');
  });

  it("shows the provider's own metrics of resources", async () => {
    const { get } = await servedNode({ provider: { getMetricsResource: () => 'mine 1\n' } });
    expect(await get('/metrics/resource')).toEqual({ status: 200, text: 'mine 1\n' });
  });

  it('says in words what the provider failed at', async () => {
    const fails = () => Promise.reject(new Error('the cloud is away'));
    const { get } = await servedNode({ provider: { getStatsSummary: fails, getMetricsResource: fails } });
    expect(await get('/stats/summary')).toEqual({
      status: 500,
      text: 'getStatsSummary() of the provider failed: the cloud is away',
    });
    expect(await get('/metrics/resource')).toEqual({
      status: 500,
      text: 'getMetricsResource() of the provider failed: the cloud is away',
    });
  });

  it.each([undefined, null, 'text', { node: {} }])('takes no other answer for a summary: %j', async (answer) => {
    const { get } = await servedNode({ provider: { getStatsSummary: () => answer as never } });
    const text = 'getStatsSummary() of the provider answered with no summary: { node, pods }';
    expect(await get('/stats/summary')).toEqual({ status: 500, text });
  });

  it('waits half a minute for what the provider takes', async () => {
    const { get, clock } = await servedNode({ provider: { getStatsSummary: () => new Promise<never>(() => {}) } });
    let isAnswered = false;
    const answer = get('/stats/summary').finally(() => {
      isAnswered = true;
    });
    await until(async () => {
      await clock.advance(1000);
      return isAnswered;
    });
    expect(await answer).toEqual({ status: 504, text: 'getStatsSummary() of the provider gave no answer within 30000 ms' });
  });

  it('makes reviews that the apiserver refuses a problem of the node, until it gives one', async () => {
    const { node, get, reviews, logged, clock } = await servedNode();
    reviews.refusal = new Error('subjectaccessreviews is forbidden: User "agent" cannot create resource "subjectaccessreviews"');
    for (let i = 0; i < 3; i++) expect((await get('/pods')).status).toBe(500);
    const message = `nobody can say what the sender of a request to the node's API may do (SubjectAccessReview): ${reviews.refusal.message}`;
    const { problems, notes } = node.snapshot();
    expect(problems).toEqual([{ kind: 'reviews', message, since: clock.now(), attempt: 3, help: expect.any(String) }]);
    expect(problems[0]?.help).toContain('tokenreviews and subjectaccessreviews (deploy/rbac.yaml)');
    expect(notes).toEqual([expect.stringContaining(message)]);
    const lines = logged.filter(([, text]) => text.includes('may do (SubjectAccessReview)'));
    expect(lines).toHaveLength(1);
    const fields = {
      problemKind: 'reviews',
      attempt: 1,
      help: problems[0]?.help,
      username: 'apiserver',
      verb: 'get',
      subresource: 'pods',
    };
    expect(lines[0]?.[0]).toMatchObject(fields);
    reviews.refusal = undefined;
    expect((await get('/pods')).status).toBe(200);
    expect(node.snapshot().notes).toEqual([]);
  });

  it('has no debugging handlers where they are off', async () => {
    const { get } = await servedNode({ server: { enableDebuggingHandlers: false }, provider: { getContainerLogs: () => 'x' } });
    expect((await get('/containerLogs/default/web/app')).status).toBe(405);
    expect((await get('/pods')).status).toBe(200);
  });

  it('is over with its node', async () => {
    const { node, get, clock } = await servedNode();
    let hasStopped = false;
    const stopped = node.stop().finally(() => {
      hasStopped = true;
    });
    await until(async () => {
      await clock.advance(1000);
      return hasStopped;
    });
    await stopped;
    await expect(get('/pods')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('the option server', () => {
  const files = { tlsCertFile: '/x', tlsPrivateKeyFile: '/y' };
  const kubeConfig = async () => {
    const apiserver = await InMemoryApiServer.start();
    onTestFinished(() => apiserver.stop());
    return apiserver.kubeConfig();
  };

  it('reads no file before the start', async () => {
    const options = { kubeConfig: await kubeConfig(), nodeName: 'n', provider, logger: null };
    expect(() => new ProviderNode({ ...options, server: { port: 0, ...files } })).not.toThrow();
  });

  it.each([
    ['server.tlsCertFile', { ...files, tlsCertFile: '' }],
    ['server.tlsPrivateKeyFile', { tlsCertFile: '/x' }],
    ['`certificate` or `serverTLSBootstrap` given, got undefined', { ...files, tlsPrivateKeyFile: undefined }],
    ['server.clientCAFile', { ...files, clientCAFile: 1 }],
    ['server.port', { ...files, port: 70_000 }],
    ['server.address', { ...files, address: 1 }],
    ['server.maxStreams', { ...files, maxStreams: 0 }],
    ['server.anonymous', { ...files, anonymous: 1 }],
    ['server.tlsMinVersion', { ...files, tlsMinVersion: 'VersionTLS10' }],
    ['server.typo', { ...files, typo: 1 }],
  ])('names what is wrong: %s', async (name, server) => {
    const options = { kubeConfig: await kubeConfig(), nodeName: 'n', provider, logger: null };
    expect(() => new ProviderNode({ ...options, server: server as never })).toThrow(name);
  });

  it('rejects the start, and names a port that is taken; the node does not register', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const apiserver = await InMemoryApiServer.start();
    onTestFinished(() => apiserver.stop());
    const serving = await servingFiles();
    const server = { ...serving.files, address: '127.0.0.1', port };
    const node = new ProviderNode({ kubeConfig: apiserver.kubeConfig(), nodeName: 'n', provider, logger: null, server });
    const message = `The API of the node is not served: the port ${port} cannot be listened on (option \`server.port\`): `;
    await expect(node.start()).rejects.toMatchObject({ code: 'ERR_SERVER', message: expect.stringContaining(message) });
    const { problems, notes } = node.snapshot();
    expect(problems).toMatchObject([{ kind: 'start', help: expect.stringContaining('End what listens on this port') }]);
    expect(notes[0]).toContain(message);
    expect((await node.stop()).node).toEqual({ node: 'notStarted', lease: 'notStarted' });
    expect(apiserver.requestsOn('nodes')).toEqual([]);
  });

  const gone = 'cannot be read: ENOENT: no such file or directory';
  const garbage = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';

  it.each<[string, 'tlsCertFile' | 'tlsPrivateKeyFile' | 'clientCAFile', string | undefined, string]>([
    ['a certificate that is not there', 'tlsCertFile', undefined, gone],
    ['a key that is not there', 'tlsPrivateKeyFile', undefined, gone],
    ['authorities that are not there', 'clientCAFile', undefined, gone],
    ['an empty certificate', 'tlsCertFile', '', 'is empty'],
    ['an empty file of authorities', 'clientCAFile', '', 'is empty'],
    ['a file without an authority', 'clientCAFile', garbage, 'has no certificate of an authority'],
    ['a certificate that is none', 'tlsCertFile', 'nonsense', 'cannot be used: the certificate cannot be read: it must be PEM'],
  ])('rejects the start, and names the file with its option alone: %s', async (_, option, text, words) => {
    const serving = await servingFiles();
    const path = serving.files[option];
    if (text === undefined) await rm(path);
    else await writeFile(path, text);
    const server = { ...serving.files, address: '127.0.0.1', port: 0 };
    const node = new ProviderNode({ kubeConfig: await kubeConfig(), nodeName: 'n', provider, logger: null, server });
    await expect(node.start()).rejects.toMatchObject({
      code: 'ERR_SERVER',
      message: expect.stringContaining(
        `The API of the node is not served: the file ${path} (option \`server.${option}\`) ${words}`,
      ),
      ...(text === undefined && { cause: { code: 'ENOENT' } }),
    });
    await node.stop();
  });

  it('names both files where the key does not fit, and the function where there is one', async () => {
    const serving = await servingFiles();
    await writeFile(serving.files.tlsPrivateKeyFile, serving.serving.issue().key);
    const options = { kubeConfig: await kubeConfig(), nodeName: 'n', provider, logger: null };
    const { tlsCertFile, tlsPrivateKeyFile } = serving.files;
    const node = new ProviderNode({ ...options, server: { ...serving.files, port: 0 } });
    const both = `the files ${tlsCertFile} (option \`server.tlsCertFile\`) and ${tlsPrivateKeyFile} (option \`server.tlsPrivateKeyFile\`) do not fit together`;
    await expect(node.start()).rejects.toThrow(both);
    await node.stop();
    const certificate = () => Promise.reject(new Error('the vault is sealed'));
    const given = new ProviderNode({ ...options, server: { certificate, port: 0 } });
    await expect(given.start()).rejects.toThrow(
      'its certificate cannot be used (option `server.certificate`): the vault is sealed',
    );
    await given.stop();
  });
});

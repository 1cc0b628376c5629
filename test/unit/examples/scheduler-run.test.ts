import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { load } from 'js-yaml';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseFlags } from '../../../examples/scheduler/flags.ts';
import { run } from '../../../examples/scheduler/run.ts';
import { resources } from '../../../src/reflector.ts';
import { readSchedulerConfiguration } from '../../../src/scheduler.ts';
import { InMemoryApiServer } from '../../../src/testing.ts';
import { createCertificateAuthority } from '../../support/certificate-authority.ts';
import { tempDir } from '../../support/temp-dir.ts';

const configuration = (name: string): URL => new URL(`../scheduler/config/${name}.yaml`, import.meta.url);
const v1 = 'kubescheduler.config.k8s.io/v1';

/** The program with these flags. `started` resolves once it has said that it has started, `ended` at its end. */
function program(...args: string[]) {
  const flags = parseFlags(args);
  if (flags === 'help') throw new Error('no flags');
  const stop = new AbortController();
  const lines: string[] = [];
  const { promise: started, resolve } = Promise.withResolvers<void>();
  const { serving } = flags;
  const anyPort = { ...flags, serving: serving && { ...serving, options: { ...serving.options, port: 0 } } };
  const ended = run(anyPort, stop.signal, (line) => {
    lines.push(line);
    if (line === 'The scheduler has started.') resolve();
  });
  const finish = async (): Promise<void> => {
    stop.abort();
    await ended;
  };
  onTestFinished(() => finish().catch(() => {}));
  const begun = Promise.race([started, ended]);
  begun.catch(() => {});
  return { lines, started: begun, ended, finish };
}

async function setUp(options: Parameters<typeof InMemoryApiServer.start>[0] = {}) {
  const server = await InMemoryApiServer.start(options);
  onTestFinished(() => server.stop());
  const folder = await tempDir();
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, JSON.stringify(kubeconfigOf(server.kubeConfig())));
  const nodes = server.objects(resources.nodes);
  for (const name of ['n1', 'n2']) {
    const node = nodes.create({ metadata: { name }, status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } } });
    nodes.update({ ...node, spec: {} });
  }
  return { server, folder, kubeconfig };
}

function kubeconfigOf(config: ReturnType<InMemoryApiServer['kubeConfig']>): object {
  const [cluster, user] = [config.getCurrentCluster(), config.getCurrentUser()];
  return {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
    clusters: [{ name: 'c', cluster: { server: cluster?.server, 'certificate-authority-data': cluster?.caData } }],
    users: [{ name: 'c', user: { token: user?.token } }],
  };
}

describe('the scheduler example', () => {
  it('writes the configuration with all defaults and flags, as kube-scheduler does, and says what changes nothing', async () => {
    const path = join(await tempDir(), 'written.yaml');
    const from = configuration('two-profiles-written').pathname;
    const { lines, ended } = program('--config', from, '--write-config-to', path, '--leader-elect-resource-name=other');
    await ended;
    const { leaderElection, ...others } = load(await readFile(configuration('two-profiles-written'), 'utf8')) as {
      leaderElection: object;
    };
    const written = await readFile(path, 'utf8');
    expect(load(written)).toEqual({ ...others, leaderElection: { ...leaderElection, resourceName: 'other' } });
    expect(readSchedulerConfiguration(written).options.profiles).toHaveLength(2);
    expect(lines).toContain('without effect: parallelism: one thread judges all nodes');
  });

  it('writes no configuration that it cannot follow', async () => {
    const folder = await tempDir();
    const file = join(folder, 'config.yaml');
    const args = '{ scoringStrategy: { type: Mine } }';
    await writeFile(
      file,
      `apiVersion: ${v1}\nkind: KubeSchedulerConfiguration\nprofiles: [{ pluginConfig: [{ name: NodeResourcesFit, args: ${args} }] }]`,
    );
    const { ended } = program('--config', file, '--write-config-to', join(folder, 'written.yaml'));
    await expect(ended).rejects.toThrow('NodeResourcesFit.scoringStrategy.type');
    await expect(readFile(join(folder, 'written.yaml'))).rejects.toThrow('ENOENT');
  });

  it('schedules by a policy of a ConfigMap', async () => {
    const { server, kubeconfig } = await setUp();
    const predicates = [{ name: 'rack', argument: { labelsPresence: { labels: ['rack'], presence: true } } }];
    const policy = JSON.stringify({ kind: 'Policy', apiVersion: 'v1', predicates, priorities: [] });
    server.objects(resources.configMaps).create({
      metadata: { name: 'policy', namespace: 'kube-system' },
      data: { 'policy.cfg': policy },
    });
    const nodes = server.objects(resources.nodes);
    const second = nodes.get({ name: 'n2' });
    nodes.update({ ...second, metadata: { ...second?.metadata, labels: { rack: 'r1' } } });
    const flags = ['--kubeconfig', kubeconfig, '--policy-configmap=policy', '--secure-port=0', '--leader-elect=false'];
    const { started, finish } = program(...flags);
    await started;
    server.store.create({ metadata: { name: 'web' }, spec: { containers: [{ name: 'app', image: 'app:1' }] } });
    const node = (): string | undefined => server.store.get('default', 'web').spec?.nodeName;
    while (node() === undefined) await nextTurn();
    expect(node()).toBe('n2');
    await finish();
  });

  it.each([
    ['is not there', undefined, 'ConfigMap kube-system/policy: '],
    ['has no policy', { other: 'x' }, 'ConfigMap kube-system/policy: expected a policy in the key policy.cfg, got none'],
    ['has a wrong one', { 'policy.cfg': '{"kind": "Policies"}' }, 'ConfigMap kube-system/policy: Expected `policy.kind`'],
  ])('does not start with a policy of a ConfigMap that %s', async (_what, data, message) => {
    const { server, kubeconfig } = await setUp();
    if (data !== undefined) {
      server.objects(resources.configMaps).create({ metadata: { name: 'policy', namespace: 'kube-system' }, data });
    }
    const { ended } = program('--kubeconfig', kubeconfig, '--policy-configmap=policy', '--secure-port=0');
    await expect(ended).rejects.toThrow(message);
  });

  it('serves its pages over TLS, to those whom the apiserver allows them, and knows clients by the authority of the cluster', async () => {
    const authority = createCertificateAuthority('pages');
    const clients = createCertificateAuthority('clients');
    const { server, folder, kubeconfig } = await setUp({
      users: { good: { username: 'robot' } },
      authorize: ({ user, nonResourceAttributes }) => user === 'robot' && nonResourceAttributes?.path !== '/other',
    });
    const { cert, key } = authority.issue();
    const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
    await writeFile(files.cert, cert);
    await writeFile(files.key, key);
    server.objects(resources.configMaps).create({
      metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' },
      data: { 'client-ca-file': clients.cert },
    });
    const { lines, started, finish } = program(
      ...['--kubeconfig', kubeconfig, '--authentication-kubeconfig', kubeconfig, '--leader-elect=false', '-v', '0'],
      ...['--bind-address=127.0.0.1', '--tls-cert-file', files.cert, '--tls-private-key-file', files.key],
    );
    await started;
    const port = Number(/port (\d+)/.exec(lines.join('\n'))?.[1]);
    const get = async (path: string, more: object = {}): Promise<string> => {
      const sent = request({ host: '127.0.0.1', port, path, ca: authority.cert, agent: false, ...more });
      sent.end();
      const [response] = await once(sent, 'response');
      return `${response.statusCode} ${await text(response)}`;
    };
    expect([await get('/healthz'), await get('/livez'), await get('/readyz')]).toEqual(['200 ok', '200 ok', '200 ok']);
    expect(await get('/metrics')).toMatch(/^403 /);
    const headers = { authorization: 'Bearer good' };
    expect(await get('/metrics', { headers })).toContain('scheduler_cache_size{type="nodes"} 2');
    const { componentconfig } = JSON.parse((await get('/configz', { headers })).slice(4));
    expect(componentconfig).toMatchObject({ apiVersion: v1, leaderElection: { leaderElect: false, leaseDuration: '15s' } });
    expect(await get('/metrics', clients.issueClient({ commonName: 'robot' }))).toMatch(/^200 /);
    expect(await get('/metrics', clients.issueClient({ commonName: 'other' }))).toMatch(/^403 /);
    await finish();
  });
});

describe('the pages of the scheduler example', () => {
  it('have a certificate that signs itself where no other is given, and leave nothing of it', async () => {
    const { folder, kubeconfig } = await setUp();
    const kept = join(folder, 'pki');
    const more = ['--leader-elect=false', '--authentication-skip-lookup', `--cert-dir=${kept}`];
    const { lines, started, finish } = program('--kubeconfig', kubeconfig, ...more);
    await started;
    const port = Number(/port (\d+)/.exec(lines.join('\n'))?.[1]);
    const sent = request({ host: '127.0.0.1', port, path: '/readyz', rejectUnauthorized: false, agent: false });
    sent.end();
    const [response] = await once(sent, 'response');
    expect(response.statusCode).toBe(200);
    await finish();
    expect(await readFile(join(kept, 'kubelet.crt'), 'utf8')).toContain('BEGIN CERTIFICATE');
  });

  it('are not served without the authorities of clients, where that is asked for', async () => {
    const { kubeconfig } = await setUp();
    const { ended } = program('--kubeconfig', kubeconfig, '--authentication-tolerate-lookup-failure=false');
    await expect(ended).rejects.toThrow('extension-apiserver-authentication');
  });
});

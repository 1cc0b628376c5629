import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json/types.ts';
import type { NodePod } from '../../../src/node/provider/pod-provider.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { tempDir } from '../../support/temp-dir.ts';
import type { PodJsonOptions } from '../pods-contract/pods-contract-fixture.ts';
import { ProviderNodeFixture } from './provider-fixture.ts';

let server: TestServer;
let namespace: string;
let fixture: ProviderNodeFixture;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('resolved');
  await make('configmaps', { metadata: { name: 'settings' }, data: { mode: 'dark', size: '4' } });
  await make('secrets', { metadata: { name: 'db' }, data: { password: base64('s3cret'), user: base64('anna') } });
});
afterAll(() => server.stop());
afterEach(() => fixture.node.stop());

async function start(): Promise<void> {
  fixture = await ProviderNodeFixture.start(server, namespace, { addresses: [{ type: 'InternalIP', address: '10.1.2.3' }] });
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function make(plural: string, body: JsonObject): Promise<void> {
  const { status } = await server.admin.send('POST', `/api/v1/namespaces/${namespace}/${plural}`, { body });
  expect([200, 201]).toContain(status);
}

type Container = NonNullable<PodJsonOptions['spec']>;

const withContainer = (container: Container, spec: Container = {}): PodJsonOptions => ({
  spec: { containers: [{ name: 'main', image: 'example.test/main:1', ...container }], ...spec },
});

/** The pod as the provider was given it. */
async function handed(name: string): Promise<NodePod> {
  await fixture.ready(name);
  return fixture.provider.named(name)?.pod as NodePod;
}

async function eventsOf(name: string): Promise<{ reason: string; message: string }[]> {
  const path = `/api/v1/namespaces/${namespace}/events?fieldSelector=involvedObject.name%3D${name}`;
  const list = (await fixture.object(path)) as { items?: { reason: string; message: string }[] } | undefined;
  return (list?.items ?? []).map(({ reason, message }) => ({ reason, message }));
}

const eventOf = (name: string, reason: string) =>
  fixture.until(
    `the event ${reason} of ${name}`,
    async () => (await eventsOf(name)).find((event) => event.reason === reason) ?? false,
  );

const secretKey = (key: string, name = 'db', optional?: boolean) => ({
  secretKeyRef: { name, key, ...(optional && { optional }) },
});

describe('what a provider is given of a pod', () => {
  it('has the values of config maps, secrets, fields and resources, and no reference any more', async () => {
    await start();
    const env = [
      { name: 'MODE', valueFrom: { configMapKeyRef: { name: 'settings', key: 'mode' } } },
      { name: 'PASSWORD', valueFrom: secretKey('password') },
      { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'HOST', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
      { name: 'CPUS', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
      { name: 'URL', value: 'db://$(PASSWORD)@$(HOST)/$(UNKNOWN)' },
    ];
    const envFrom = [{ configMapRef: { name: 'settings' }, prefix: 'SET_' }];
    await fixture.create(
      'values',
      withContainer({ env, envFrom, command: ['run', '$(MODE)'], args: ['--to=$(URL)', '$$(MODE)'] }),
    );
    const [container] = (await handed('values')).spec.containers;
    expect(container?.envFrom).toBeUndefined();
    expect(container?.command).toEqual(['run', 'dark']);
    expect(container?.args).toEqual(['--to=db://s3cret@10.1.2.3/$(UNKNOWN)', '$(MODE)']);
    const { env: given = [] } = container ?? {};
    expect(given.every((one) => Object.keys(one).sort().join() === 'name,value')).toBe(true);
    expect(Object.fromEntries(given.map(({ name, value }) => [name, value]))).toMatchObject({
      SET_mode: 'dark',
      SET_size: '4',
      MODE: 'dark',
      PASSWORD: 's3cret',
      NAME: 'values',
      HOST: '10.1.2.3',
      CPUS: '1000',
      URL: 'db://s3cret@10.1.2.3/$(UNKNOWN)',
    });
  });

  it('has the variables of the services of its namespace', async () => {
    await start();
    await make('services', { metadata: { name: 'shop' }, spec: { ports: [{ port: 8080 }] } });
    await fixture.until('the pod has the variables of the service', async () => {
      await fixture.create('served');
      const { env = [] } = (await handed('served')).spec.containers[0] ?? {};
      const isThere = env.some(({ name, value }) => name === 'SHOP_SERVICE_PORT' && value === '8080');
      if (isThere) return true;
      await fixture.delete('served', 1);
      await fixture.gone('served');
      return false;
    });
    await fixture.create('alone', withContainer({}, { enableServiceLinks: false }));
    const { env = [] } = (await handed('alone')).spec.containers[0] ?? {};
    expect(env.some(({ name }) => name.startsWith('SHOP_'))).toBe(false);
  });

  it('has the files of its volumes', async () => {
    await start();
    const volumes = [
      { name: 'settings', configMap: { name: 'settings', items: [{ key: 'mode', path: 'etc/mode', mode: 0o600 }] } },
      { name: 'keys', secret: { secretName: 'db', defaultMode: 0o400 } },
      { name: 'about', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
      { name: 'scratch', emptyDir: {} },
      { name: 'unused', secret: { secretName: 'missing' } },
    ];
    const names = ['settings', 'keys', 'about', 'scratch'];
    const volumeMounts = names.map((name) => ({ name, mountPath: `/mnt/${name}` }));
    await fixture.create('files', { metadata: { labels: { app: 'x' } }, ...withContainer({ volumeMounts }, { volumes }) });
    const { files = {} } = await handed('files');
    const texts = Object.entries(files).map(([volume, inside]) => [
      volume,
      Object.fromEntries(Object.entries(inside).map(([path, { data, mode }]) => [path, [Buffer.from(data).toString(), mode]])),
    ]);
    expect(Object.fromEntries(texts)).toEqual({
      settings: { 'etc/mode': ['dark', 0o600] },
      keys: { password: ['s3cret', 0o400], user: ['anna', 0o400] },
      about: { labels: ['app="x"', 0o644] },
    });
  });
});

describe('a pod that refers to what is not there', () => {
  it('waits, says why, and begins once it is there', async () => {
    await start();
    await fixture.create('waits', withContainer({ env: [{ name: 'A', valueFrom: secretKey('k', 'late') }] }));
    const pod = await fixture.served(
      'waits',
      ({ status }) => status.containerStatuses?.[0]?.state?.waiting?.reason !== undefined,
    );
    expect(pod.status.phase).toBe('Pending');
    expect(await eventOf('waits', 'MandatorySecretNotFound')).toMatchObject({ message: 'Error: secret "late" not found' });
    const { status } = await fixture.served('waits', (one) => JSON.stringify(one.status).includes('CreateContainerConfigError'));
    expect(status.containerStatuses?.[0]?.state?.waiting).toEqual({
      reason: 'CreateContainerConfigError',
      message: 'secret "late" not found',
    });
    expect(fixture.provider.callsOf('waits')).toEqual([]);
    const { problem } = fixture.node.explain(pod.metadata.uid);
    expect(problem).toMatchObject({ kind: 'secret-missing', help: `Create the secret ${namespace}/late, or mark it optional.` });
    await make('secrets', { metadata: { name: 'late' }, data: { k: base64('here') } });
    const [container] = (await handed('waits')).spec.containers;
    expect(container?.env).toContainEqual({ name: 'A', value: 'here' });
    expect(fixture.node.explain(pod.metadata.uid).problem).toBeUndefined();
  });

  it.each([
    [
      'secret-key',
      { secretKeyRef: { name: 'db', key: 'none' } },
      'MandatorySecretKeyNotFound',
      "couldn't find key none in Secret",
    ],
    ['config-map', { configMapKeyRef: { name: 'none', key: 'k' } }, 'MandatoryConfigMapNotFound', 'configmap "none" not found'],
    [
      'config-key',
      { configMapKeyRef: { name: 'settings', key: 'none' } },
      'MandatoryConfigMapKeyNotFound',
      "couldn't find key none",
    ],
  ])('is told of by its reason: %s', async (name, valueFrom, reason, words) => {
    await start();
    await fixture.create(name, withContainer({ env: [{ name: 'A', valueFrom }] }));
    expect((await eventOf(name, reason)).message).toContain(words);
    expect(fixture.provider.callsOf(name)).toEqual([]);
    await fixture.delete(name, 1);
    await fixture.gone(name);
  });

  it('begins without what is optional, and says what is missing', async () => {
    await start();
    const env = [
      { name: 'A', valueFrom: secretKey('k', 'none', true) },
      { name: 'B', valueFrom: { configMapKeyRef: { name: 'settings', key: 'none', optional: true } } },
    ];
    await fixture.create('optional', withContainer({ env, envFrom: [{ configMapRef: { name: 'nothing', optional: true } }] }));
    const [container] = (await handed('optional')).spec.containers;
    expect(container?.env?.some(({ name }) => name === 'A' || name === 'B')).toBe(false);
    expect((await eventOf('optional', 'OptionalSecretNotFound')).message).toContain('goes without the variable "A"');
    await eventOf('optional', 'OptionalConfigMapKeyNotFound');
    await eventOf('optional', 'OptionalConfigMapNotFound');
  });

  it('waits for the files of its volumes, too', async () => {
    await start();
    const volumes = [{ name: 'keys', secret: { secretName: 'later' } }];
    const volumeMounts = [{ name: 'keys', mountPath: '/keys' }];
    const { metadata } = await fixture.create('mounts', withContainer({ volumeMounts }, { volumes }));
    expect((await eventOf('mounts', 'FailedMount')).message).toBe(
      'MountVolume.SetUp failed for volume "keys" : secret "later" not found',
    );
    expect(fixture.node.explain(metadata.uid).problem).toMatchObject({ kind: 'secret-missing' });
    await make('secrets', { metadata: { name: 'later' }, data: { k: base64('here') } });
    expect(Object.keys((await handed('mounts')).files?.keys ?? {})).toEqual(['k']);
  });

  it('ends at once when it is deleted, without its provider', async () => {
    await start();
    await fixture.create('gone', withContainer({ env: [{ name: 'A', valueFrom: secretKey('k', 'never') }] }));
    await eventOf('gone', 'MandatorySecretNotFound');
    await fixture.delete('gone', 30);
    await fixture.gone('gone');
    expect(fixture.provider.callsOf('gone')).not.toContain('createPod gone');
  });
});

describe('what a provider is given later', () => {
  it('has the values of now, and is refused by name while one is missing', async () => {
    await start();
    await make('secrets', { metadata: { name: 'changes' }, data: { k: base64('one') } });
    await fixture.create('later', withContainer({ env: [{ name: 'A', valueFrom: secretKey('k', 'changes') }] }));
    const pod = await handed('later');
    const now = async () =>
      (await fixture.provider.tools?.resolvePod(pod))?.spec.containers[0]?.env?.find(({ name }) => name === 'A');
    expect(pod.spec.containers[0]?.env).toContainEqual({ name: 'A', value: 'one' });
    const path = `/api/v1/namespaces/${namespace}/secrets/changes`;
    await server.admin.send('DELETE', path);
    await expect(now()).rejects.toMatchObject({ code: 'ERR_POD_HELD', held: { kind: 'secret-missing' } });
    await make('secrets', { metadata: { name: 'changes' }, data: { k: base64('two') } });
    expect(await now()).toEqual({ name: 'A', value: 'two' });
  });

  it('is written to a folder by option, brought up to date, and removed with the pod', async () => {
    const podFilesFolder = await tempDir();
    fixture = await ProviderNodeFixture.start(server, namespace, { podFilesFolder });
    const volumes = [
      { name: 'keys', secret: { secretName: 'db', defaultMode: 0o400 } },
      { name: 'about', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    ];
    const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/mnt/${name}` }));
    await fixture.create('folder', { metadata: { labels: { app: 'x' } }, ...withContainer({ volumeMounts }, { volumes }) });
    const { metadata, files, volumeFolders = {} } = await handed('folder');
    expect(files).toBeUndefined();
    expect(volumeFolders).toEqual({
      keys: join(podFilesFolder, metadata.uid, 'volumes', 'keys'),
      about: join(podFilesFolder, metadata.uid, 'volumes', 'about'),
    });
    expect(await readFile(join(volumeFolders.keys ?? '', 'password'), 'utf8')).toBe('s3cret');
    const labels = () => readFile(join(volumeFolders.about ?? '', 'labels'), 'utf8');
    expect(await labels()).toBe('app="x"');
    await server.admin.patchPod(namespace, 'folder', { metadata: { labels: { app: 'y' } } }, 'merge');
    await fixture.until('the label is in the file', async () => (await labels()) === 'app="y"');
    await fixture.delete('folder', 1);
    await fixture.gone('folder');
    expect(await readdir(podFilesFolder)).toEqual([]);
  });
});

describe('the rest of a resolved pod’s life', () => {
  it('needs no update when the agent starts again and its provider lists what it was given', async () => {
    await start();
    const env = [{ name: 'PASSWORD', valueFrom: secretKey('password') }];
    await fixture.create('kept', withContainer({ env, command: ['run', '$(PASSWORD)'] }));
    await fixture.ready('kept');
    await fixture.restart();
    await fixture.until(
      'the pod was asked about',
      async () => fixture.node.explain((await fixture.served('kept')).metadata.uid).askedAt !== undefined,
    );
    await server.admin.patchPod(namespace, 'kept', { metadata: { labels: { changed: 'yes' } } }, 'merge');
    await fixture.until('the provider is told of the label', async () => fixture.provider.callsOf('kept').length === 2);
    expect(fixture.provider.callsOf('kept')).toEqual(['createPod kept', 'updatePod kept']);
  });

  it('is as on the apiserver for a provider that wants raw pods', async () => {
    await start();
    await using raw = await ProviderNodeFixture.start(server, namespace, { rawPods: true });
    const env = [{ name: 'A', valueFrom: secretKey('k', 'never') }];
    await raw.create('raw', withContainer({ env }));
    await raw.ready('raw');
    expect(raw.provider.named('raw')?.pod.spec?.containers[0]?.env).toEqual(env);
  });
});

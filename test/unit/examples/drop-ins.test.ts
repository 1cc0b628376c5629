import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readConfig } from '../../../examples/kubelet/config-file.ts';
import { mergePatch } from '../../../examples/kubelet/drop-ins.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'config-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function write(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

it('files of a folder change what the file says, in the order of their names, and flags count most', async () => {
  const config = await write(
    'kubelet.yaml',
    `${head}maxPods: 10\nclusterDNS: [10.0.0.1, 10.0.0.2]\nevictionHard: { memory.available: 1Gi }\nfeatureGates: { APIServerIdentity: true, WatchList: true }\n`,
  );
  await write('conf.d/20-b.conf', `${head}maxPods: 30\nfeatureGates: { WatchList: false }\n`);
  await write('conf.d/10-a.conf', `${head}maxPods: 20\nclusterDNS: [10.0.0.3]\nevictionHard: { nodefs.available: 5% }\n`);
  await write('conf.d/90/c.conf', `${head}clusterDomain: a.example\nfeatureGates: null\n`);
  await write('conf.d/30-c.yaml', `${head}maxPods: 40\n`);
  const configDir = join(folder, 'conf.d');
  const { options, skipped } = await readConfig({ config, configDir, settings: { featureGates: { WatchList: true } } });
  expect(options).toEqual({
    maxPods: 30,
    clusterDNS: ['10.0.0.3'],
    evictionHard: { 'memory.available': '1Gi', 'nodefs.available': '5%' },
    nodeStatusReportFrequencyMs: 300_000,
    serializeImagePulls: true,
    clusterDomain: 'a.example',
    featureGates: { WatchList: true },
  });
  expect(skipped).toEqual([join(configDir, '30-c.yaml')]);
});

it('a flag takes the place of a field, and leaves other gates and its neighbours', async () => {
  const config = await write(
    'kubelet.yaml',
    `${head}systemReserved: { cpu: 1, memory: 1Gi }\nfeatureGates: { WatchList: true }\nauthentication: { anonymous: { enabled: true }, x509: { clientCAFile: /ca } }\n`.replace(
      'cpu: 1',
      'cpu: "1"',
    ),
  );
  const settings = {
    systemReserved: { cpu: '2' },
    featureGates: { APIServerIdentity: false },
    'authentication.anonymous.enabled': false,
  };
  const { options, own } = await readConfig({ config, settings });
  expect(options).toEqual({ systemReserved: { cpu: '2' }, featureGates: { WatchList: true, APIServerIdentity: false } });
  expect(own).toEqual({ 'authentication.anonymous.enabled': false, 'authentication.x509.clientCAFile': '/ca' });
});

it('paths of the file start at its folder, and there may be no file', async () => {
  const config = await write(
    'kubelet.yaml',
    `${head}staticPodPath: manifests\ntlsCertFile: /c\nresolvConf: ""\nauthentication: { x509: { clientCAFile: ca.crt } }\n`,
  );
  const { options, own } = await readConfig({ config });
  expect(options).toEqual({ staticPodPath: join(folder, 'manifests'), resolvConf: '' });
  expect(own).toEqual({ tlsCertFile: '/c', 'authentication.x509.clientCAFile': join(folder, 'ca.crt') });
  expect(await readConfig({ settings: { maxPods: 5 } })).toMatchObject({ options: { maxPods: 5 } });
});

it.each([
  ['maxPods: 10\nmaxPods: 20\n', 'duplicated mapping key'],
  ['authentication: { x509: { clientCA: /ca } }\n', 'authentication.x509.clientCA is no field of KubeletConfiguration'],
  ['maxPodz: 1\n', 'maxPodz is no field of KubeletConfiguration'],
])('a wrong file stops the start by its path: %j', async (text, message) => {
  const config = await write('kubelet.yaml', head + text);
  await expect(readConfig({ config })).rejects.toThrow(`${config}: ${message}`);
  const file = await write('conf.d/1.conf', head + text);
  await expect(readConfig({ configDir: dirname(file) })).rejects.toThrow(`${file}: ${message}`);
});

it('drop-ins find the defaults of the kubelet where there is a file, and change only what they name', async () => {
  const config = await write('kubelet.yaml', `${head}nodeStatusReportFrequency: 0s\n`);
  await write(
    'conf.d/1.conf',
    `${head}evictionHard: { memory.available: 200Mi, nodefs.available: null }\nnodeStatusUpdateFrequency: 20s\n`,
  );
  const configDir = join(folder, 'conf.d');
  expect((await readConfig({ config, configDir })).options).toEqual({
    evictionHard: {
      'memory.available': '200Mi',
      'nodefs.inodesFree': '5%',
      'imagefs.available': '15%',
      'imagefs.inodesFree': '5%',
    },
    nodeStatusUpdateFrequencyMs: 20_000,
    nodeStatusReportFrequencyMs: 300_000,
    serializeImagePulls: true,
  });
  expect((await readConfig({ configDir })).options).toMatchObject({ evictionHard: { 'memory.available': '200Mi' } });
  await write('conf.d/2.conf', `${head}maxParallelImagePulls: 3\n`);
  await expect(readConfig({ config, configDir })).rejects.toThrow('maxParallelImagePulls must be at most 1 with');
  const pulls = await write('pulls.yaml', `${head}maxParallelImagePulls: 2\nnodeStatusUpdateFrequency: 30s\n`);
  expect((await readConfig({ config: pulls, configDir })).options).toMatchObject({
    serializeImagePulls: false,
    nodeStatusReportFrequencyMs: 30_000,
  });
});

it('a flag comes after the defaults that depend on a field', async () => {
  const { options } = await readConfig({ settings: { nodeStatusUpdateFrequency: '20s' } });
  expect(options).toMatchObject({ nodeStatusUpdateFrequencyMs: 20_000, nodeStatusReportFrequencyMs: 300_000 });
});

it('a flag that says 0 means it, unlike a file', async () => {
  const zeros = {
    'authentication.webhook.cacheTTL': '0s',
    'authorization.webhook.cacheAuthorizedTTL': '0s',
    imageMinimumGCAge: '0s',
    maxPods: 0,
    readOnlyPort: 0,
  };
  const { options, own } = await readConfig({ settings: zeros });
  expect(options).toEqual({ imageMinimumGCAgeMs: 0, maxPods: 0 });
  expect(own).toEqual({ 'authentication.webhook.cacheTTL': 0, 'authorization.webhook.cacheAuthorizedTTL': 0 });
  const config = await write('kubelet.yaml', `${head}imageMinimumGCAge: 0s\nmaxPods: 0\nport: 0\nsyncFrequency: 0s\n`);
  expect(await readConfig({ config })).toMatchObject({ options: {}, own: {} });
});

it.each([
  ...['fileCheckFrequency', 'httpCheckFrequency', 'nodeStatusUpdateFrequency', 'runtimeRequestTimeout', 'syncFrequency'],
  ...['streamingConnectionIdleTimeout', 'port', 'maxOpenFiles', 'eventBurst', 'kubeAPIBurst'],
])('a flag that says 0 for %s is refused by name', async (name) => {
  const value = /Frequency|Timeout/.test(name) ? '0s' : 0;
  const message = `${name} must be more than 0, got ${JSON.stringify(value)}`;
  await expect(readConfig({ settings: { [name]: value } })).rejects.toThrow(message);
  const config = await write('kubelet.yaml', `${head}${name}: ${value}\n`);
  expect((await readConfig({ config })).options).toEqual({});
});

it('a file that is no YAML is named with the line, and nothing of it is shown', async () => {
  const config = await write('kubelet.yaml', `${head}staticPodURLHeader:\n  Authorization: [Bearer sesame]\n    b: [\n`);
  const error: unknown = await readConfig({ config }).catch((reason: unknown) => reason);
  expect(inspect(error)).toMatch(/: [^\n]+ in line 5\n/);
  expect(inspect(error)).not.toContain('sesame');
});

it.each([
  ['*sesame', /: unidentified alias in line 3\n/],
  ['!<sesame> a', /: unknown scalar tag in line 3\n/],
  ['!sesame!a b', /: undeclared tag handle in line 3\n/],
])('and so is one with the value %s', async (value, message) => {
  const config = await write('kubelet.yaml', `${head}clusterDomain: ${value}\n`);
  const error: unknown = await readConfig({ config }).catch((reason: unknown) => reason);
  expect(inspect(error)).toMatch(message);
  expect(inspect(error)).not.toContain('sesame');
});

it('a file of another kind, and a folder that is not there, stop the start', async () => {
  const file = await write('conf.d/1.conf', 'maxPods: 1\n');
  await expect(readConfig({ configDir: dirname(file) })).rejects.toThrow(`${file}: the file must be of apiVersion`);
  await expect(readConfig({ configDir: join(folder, 'none') })).rejects.toThrow('no such file or directory');
});

it('a merge patch replaces lists and takes away what is null, also in what is new', () => {
  expect(mergePatch({ a: { b: 1, c: [1] }, d: 2 }, { a: { c: [2], b: null }, e: { f: null, g: 1 } })).toEqual({
    a: { c: [2] },
    d: 2,
    e: { g: 1 },
  });
});

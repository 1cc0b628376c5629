import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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

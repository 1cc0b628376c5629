import { X509Certificate } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { inspect } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node';
import { expect, it, onTestFinished, vi } from 'vitest';
import { clusterAccess } from '../../../examples/kubelet/cluster-access.ts';
import { parseFlags } from '../../../examples/kubelet/flags.ts';
import { registryCredentialFiles, serverOptions } from '../../../examples/kubelet/own-settings.ts';
import { recordedLines } from '../../support/recorded-lines.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { until } from '../../support/until.ts';
import { serverWithSigner } from '../node/certificates/apiserver-with-signer.ts';

it('a node without a certificate signs its own', async () => {
  const certificateFolder = await tempDir();
  const { certificate } = serverOptions({}, { nodeName: 'node-1', certificateFolder }) ?? {};
  const { cert } = (await certificate?.()) ?? { cert: '' };
  expect(new X509Certificate(cert).subjectAltName).toBe('DNS:node-1');
  expect(await readFile(join(certificateFolder, 'kubelet.crt'), 'utf8')).toBe(cert);
});

it("credentials of registries are looked for in the kubelet's places", () => {
  const files = registryCredentialFiles({ rootDirectory: '/data' });
  expect(files[0]).toBe('/data/config.json');
  expect(files).toContain(join(process.cwd(), 'config.json'));
  expect(files.slice(4).map((path) => basename(path))).toEqual(Array(4).fill('.dockercfg'));
});

it.each([
  ['/home/a', '/home/a'],
  ['', process.cwd()],
  [undefined, process.cwd()],
])('with HOME=%s credentials are looked for in %s, whoever the process is', (given, home) => {
  vi.stubEnv('HOME', given);
  onTestFinished(() => void vi.unstubAllEnvs());
  const files = registryCredentialFiles({ rootDirectory: '/data' });
  expect(files).toEqual([
    ...['/data/config.json', join(process.cwd(), 'config.json'), join(home, '.docker/config.json'), '/.docker/config.json'],
    ...['/data/.dockercfg', join(process.cwd(), '.dockercfg'), join(home, '.dockercfg'), '/.dockercfg'],
  ]);
});

it('a cloud that initializes the node is told of by its flag', () => {
  expect(parseFlags(['--cloud-provider=external'])).toMatchObject({ externalCloudProvider: true });
  expect(parseFlags(['--cloud-provider='])).toMatchObject({ externalCloudProvider: false });
});

it('certificates are kept below the root folder, unless a flag says where', () => {
  expect(parseFlags([])).toMatchObject({ certificateFolder: '/var/lib/kubelet/pki' });
  expect(parseFlags(['--root-dir', '/data'])).toMatchObject({ certificateFolder: '/data/pki' });
  expect(parseFlags(['--cert-dir', '/pki'])).toMatchObject({ certificateFolder: '/pki' });
  expect(parseFlags(['--cert-dir=pki', '--kubeconfig=k', '--bootstrap-kubeconfig', 'b'])).toMatchObject({
    certificateFolder: resolve('pki'),
    kubeconfig: resolve('k'),
    bootstrapKubeconfig: resolve('b'),
  });
});

it('a bootstrap kubeconfig, or rotation, makes the agent ask for its client certificate', async () => {
  const folder = await tempDir();
  const kubeconfig = join(folder, 'kubelet.conf');
  const flags = { kubeconfig, bootstrapKubeconfig: undefined, certificateFolder: folder, nodeName: 'node-1' };
  const tools = { signal: new AbortController().signal };
  await expect(clusterAccess({ ...flags, kubeconfig: undefined, bootstrapKubeconfig: '/b' }, {}, tools)).rejects.toThrow(
    '--bootstrap-kubeconfig needs --kubeconfig',
  );
  await expect(clusterAccess({ ...flags, kubeconfig: undefined }, { rotateCertificates: true }, tools)).rejects.toThrow(
    'rotateCertificates: true needs --kubeconfig',
  );
  await expect(clusterAccess({ ...flags, bootstrapKubeconfig: join(folder, 'none') }, {}, tools)).rejects.toThrow(
    `no bootstrap kubeconfig ${join(folder, 'none')}`,
  );
  const given = new KubeConfig();
  given.loadFromClusterAndUser({ name: 'c', server: 'https://192.0.2.1', skipTLSVerify: false }, { name: 'u', token: 't' });
  await writeFile(kubeconfig, given.exportConfig());
  const plain = await clusterAccess(flags, { rotateCertificates: false }, tools);
  expect([plain.kubeConfig.getCurrentUser()?.token, plain.certificate]).toEqual(['t', undefined]);
  const renewed = await clusterAccess(flags, { rotateCertificates: true }, tools);
  expect([renewed.kubeConfig.getCurrentUser()?.token, renewed.certificate?.problem()]).toEqual(['t', undefined]);
  expect(renewed.certificate).toBeDefined();
});

it('a kubeconfig that is none is named, and nothing of it is shown', async () => {
  const folder = await tempDir();
  const kubeconfig = join(folder, 'kubelet.conf');
  await writeFile(kubeconfig, 'users:\n- user: { token: sesame }\n  - name: [\n');
  const flags = { kubeconfig, bootstrapKubeconfig: undefined, certificateFolder: folder, nodeName: 'node-1' };
  const tools = { signal: new AbortController().signal };
  const read = () => clusterAccess(flags, {}, tools).catch((error: unknown) => inspect(error));
  const named = `ConfigError: The kubeconfig "${kubeconfig}" cannot be used: Expected it to be YAML`;
  expect(await read()).toContain(named);
  expect(await read()).not.toContain('sesame');
  vi.stubEnv('KUBECONFIG', kubeconfig);
  onTestFinished(() => void vi.unstubAllEnvs());
  const ofHome = await clusterAccess({ ...flags, kubeconfig: undefined }, {}, tools).catch((error: unknown) => inspect(error));
  expect(ofHome).toContain(named);
  expect(ofHome).not.toContain('sesame');
  await rm(kubeconfig);
  expect(await read()).toContain('cannot be used: it cannot be read (ENOENT)');
});

it('a wait for a certificate ends when the program is told to stop, and is written to its log', async () => {
  const world = await serverWithSigner();
  await world.giveToken();
  const abort = new AbortController();
  const lines = recordedLines();
  const access = clusterAccess({ ...world.files, nodeName: 'node-1' }, {}, { signal: abort.signal, logger: lines.logger });
  access.catch(() => {});
  await until(() => lines.saying('asked for a certificate of the node').length === 1);
  abort.abort(new Error('enough'));
  await expect(access).rejects.toThrow('enough');
});

it('what signs a certificate of its own writes to the log of the program', async () => {
  const [certificateFolder, lines] = [join(await tempDir(), 'pki'), recordedLines()];
  const { certificate } = serverOptions({}, { nodeName: 'node-1', certificateFolder }, lines.logger) ?? {};
  // no key can be put where a folder is
  await mkdir(join(certificateFolder, 'kubelet.key.new/a'), { recursive: true });
  expect((await certificate?.())?.cert).toContain('CERTIFICATE');
  expect(lines.of('warn')).toEqual(['the certificate of the node could not be kept']);
});

it('takes where plugins for image credentials are, from flags', () => {
  expect(parseFlags([])).toHaveProperty('imageCredentials', {});
  const args = ['--image-credential-provider-config=/etc/plugins.yaml', '--image-credential-provider-bin-dir', 'bin'];
  expect(parseFlags(args)).toMatchObject({
    imageCredentials: {
      imageCredentialProviderConfig: '/etc/plugins.yaml',
      imageCredentialProviderBinDir: join(process.cwd(), 'bin'),
    },
  });
});

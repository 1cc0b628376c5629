import { X509Certificate } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { clusterAccess } from '../../../examples/kubelet/cluster-access.ts';
import { parseFlags } from '../../../examples/kubelet/flags.ts';
import { registryCredentialFiles, serverOptions } from '../../../examples/kubelet/own-settings.ts';
import { tempDir } from '../../support/temp-dir.ts';

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
  expect(files).toContain(join(homedir(), '.docker/config.json'));
  expect(files.slice(4).map((path) => basename(path))).toEqual(Array(4).fill('.dockercfg'));
});

it('a cloud that initializes the node is told of by its flag', () => {
  expect(parseFlags(['--cloud-provider=external'])).toMatchObject({ externalCloudProvider: true });
  expect(parseFlags(['--cloud-provider='])).toMatchObject({ externalCloudProvider: false });
});

it('certificates are kept below the root folder, unless a flag says where', () => {
  expect(parseFlags([])).toMatchObject({ certificateFolder: '/var/lib/kubelet/pki' });
  expect(parseFlags(['--root-dir', '/data'])).toMatchObject({ certificateFolder: '/data/pki' });
  expect(parseFlags(['--cert-dir', '/pki'])).toMatchObject({ certificateFolder: '/pki' });
});

it('a bootstrap kubeconfig, or rotation, makes the agent ask for its client certificate', async () => {
  const folder = await tempDir();
  const kubeconfig = join(folder, 'kubelet.conf');
  const flags = { kubeconfig, bootstrapKubeconfig: undefined, certificateFolder: folder, nodeName: 'node-1' };
  const { signal } = new AbortController();
  await expect(clusterAccess({ ...flags, kubeconfig: undefined, bootstrapKubeconfig: '/b' }, {}, signal)).rejects.toThrow(
    '--bootstrap-kubeconfig needs --kubeconfig',
  );
  await expect(clusterAccess({ ...flags, bootstrapKubeconfig: join(folder, 'none') }, {}, signal)).rejects.toThrow(
    `no bootstrap kubeconfig ${join(folder, 'none')}`,
  );
  const given = new KubeConfig();
  given.loadFromClusterAndUser({ name: 'c', server: 'https://192.0.2.1', skipTLSVerify: false }, { name: 'u', token: 't' });
  await writeFile(kubeconfig, given.exportConfig());
  const plain = await clusterAccess(flags, { rotateCertificates: false }, signal);
  expect([plain.kubeConfig.getCurrentUser()?.token, plain.certificate]).toEqual(['t', undefined]);
  const renewed = await clusterAccess(flags, { rotateCertificates: true }, signal);
  expect([renewed.kubeConfig.getCurrentUser()?.token, renewed.certificate?.problem()]).toEqual(['t', undefined]);
  expect(renewed.certificate).toBeDefined();
});

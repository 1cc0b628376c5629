import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import type { PluginCredentials } from '../../../../src/kubelet/images/image-credential-plugins.ts';
import { ImagePuller } from '../../../../src/kubelet/images/image-puller.ts';
import type { PullSecret } from '../../../../src/kubelet/images/keyring.ts';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { FakeRuntime } from '../../../../src/testing/runtime/fake-runtime.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const never = new AbortController().signal;
const image = 'quay.io/team/app:1';
const accountOf = (name: string) => ({ uid: `uid-of-${name}`, namespace: 'default', name });
const config = (username: string) => JSON.stringify({ auths: { 'quay.io': { username, password: 'p' } } });
const secretOf = (name: string): PullSecret => ({
  metadata: { name, namespace: 'default', uid: `uid-of-${name}` },
  type: 'kubernetes.io/dockerconfigjson',
  data: { '.dockerconfigjson': Buffer.from(config(name)).toString('base64') },
});

/** A node whose registry knows these users, and whose plugin gives what the service account of the pod says. */
async function nodeFor(users: string, given: (pod: Pod) => { credentials?: PluginCredentials[]; failed?: string[] }) {
  const [clock, events, recordsDirectory] = [new FakeClock(), [] as string[], await tempDir()];
  const tried: string[] = [];
  const registry = (_: string, auth: { username?: string } = {}) => {
    tried.push(auth.username ?? '');
    return users.split(' ').includes(auth.username ?? '') ? {} : { error: 'pull access denied' };
  };
  const runtime = new FakeRuntime({ clock, registry });
  let asked = 0;
  const puller = new ImagePuller({
    runtime,
    recordsDirectory,
    maxParallelImagePulls: 5,
    credentialVerification: 'NeverVerifyPreloadedImages',
    nodeCredentials: { for: async () => [{ auth: { username: 'node' }, source: { ...accountOf('node'), credentialHash: 'n' } }] },
    credentialPlugins: {
      for: async (_repository, pod) => {
        asked += 1;
        return { credentials: [], failed: [], ...given(pod) };
      },
    },
    eventRecorder: { event: (_pod, type, reason, message) => void events.push(`${type} ${reason}: ${message}`) },
    clock,
    logger: silentLogger,
  });
  const ensure = (account: string, { policy = 'IfNotPresent', secrets = [] as string[], name = image } = {}) => {
    const pod = buildPod({ metadata: { uid: account }, spec: { containers: [], serviceAccountName: account } });
    const container = { name: 'app', image: name, imagePullPolicy: policy };
    return puller.ensureImage({ pod, container, pullSecrets: secrets.map(secretOf) }, never);
  };
  const records = async (): Promise<unknown[]> => {
    const folder = join(recordsDirectory, 'pulled');
    const names = await readdir(folder);
    return Promise.all(names.map(async (each) => JSON.parse(await readFile(join(folder, each), 'utf8'))));
  };
  return { ensure, events, tried, asked: () => asked, records };
}

const ofAccount = (pod: Pod) => {
  const account = accountOf(pod.spec?.serviceAccountName ?? '');
  return { credentials: [{ auth: { username: 'plugin', password: 'p' }, account }] };
};

describe('credentials of plugins', () => {
  it('are tried after those of secrets and those of the node, and asked for once', async () => {
    const node = await nodeFor('plugin', ofAccount);
    await node.ensure('web', { secrets: ['one', 'two'] });
    expect([node.tried, node.asked()]).toEqual([['one', 'two', 'node', 'plugin'], 1]);
  });

  it('that are the node’s leave the image for every pod', async () => {
    const node = await nodeFor('plugin', () => ({ credentials: [{ auth: { username: 'plugin' }, account: undefined }] }));
    await node.ensure('web');
    await node.ensure('other', { policy: 'Never' });
    expect(await node.records()).toMatchObject([{ credentialMapping: { 'quay.io/team/app': { nodePodsAccessible: true } } }]);
    expect(node.asked()).toBe(1);
  });

  it('of a service account leave the image for pods of that account alone, in the kubelet’s record', async () => {
    const node = await nodeFor('plugin', ofAccount);
    await node.ensure('web');
    expect(await node.records()).toMatchObject([
      {
        kind: 'ImagePulledRecord',
        apiVersion: 'kubelet.config.k8s.io/v1beta1',
        credentialMapping: { 'quay.io/team/app': { kubernetesServiceAccounts: [accountOf('web')] } },
      },
    ]);
    await node.ensure('web', { policy: 'Never' });
    await expect(node.ensure('other', { policy: 'Never' })).rejects.toMatchObject({ reason: 'ErrImageNeverPull' });
    await node.ensure('other');
    await node.ensure('other', { policy: 'Never' });
    const [record] = await node.records();
    expect(record).toMatchObject({
      credentialMapping: { 'quay.io/team/app': { kubernetesServiceAccounts: [accountOf('web'), accountOf('other')] } },
    });
  });

  it('stand in one record beside secrets, and a secret of the pod is enough to use the image', async () => {
    const node = await nodeFor('one plugin', ofAccount);
    await node.ensure('web', { secrets: ['one'] });
    await node.ensure('other', { policy: 'Always' });
    expect(await node.records()).toMatchObject([
      {
        credentialMapping: {
          'quay.io/team/app': { kubernetesSecrets: [{ name: 'one' }], kubernetesServiceAccounts: [{ name: 'other' }] },
        },
      },
    ]);
    const before = node.asked();
    await node.ensure('third', { secrets: ['one'], policy: 'Never' });
    expect(node.asked()).toBe(before);
  });

  it('are kept under the name as the pod writes it, as the kubelet keeps them', async () => {
    const node = await nodeFor('plugin', ofAccount);
    await node.ensure('web', { name: 'app' });
    expect(await node.records()).toMatchObject([
      { credentialMapping: { app: { kubernetesServiceAccounts: [{ name: 'web' }] } } },
    ]);
    await node.ensure('web', { name: 'app', policy: 'Never' });
  });

  it('that did not come are named where the pull fails', async () => {
    const node = await nodeFor('nobody', () => ({ failed: ['ecr', 'gcr'] }));
    const words =
      'pull access denied; no credentials came from the credential plugins "ecr", "gcr": the log of the agent says why';
    const failure = expect(node.ensure('web')).rejects;
    await failure.toMatchObject({ reason: 'ErrImagePull', message: expect.stringContaining(words) });
    expect(node.events.at(-1)).toContain(words);
  });
});

import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import type { JsonObject, WirePod } from '../../../src/api/json/types.ts';
import { KubeTransport } from '../../../src/index.ts';
import { TokenManager } from '../../../src/kubelet.ts';
import { type NodePod, type PodProvider, ProviderNode } from '../../../src/node.ts';
import { AdminClient } from '../../support/admin-client.ts';
import { podOf } from '../../support/answers.ts';

let admin: AdminClient;
let adminConfig: KubeConfig;
let namespace: string;

beforeAll(async () => {
  adminConfig = new KubeConfig();
  adminConfig.loadFromString(inject('controlPlaneKubeconfig'));
  admin = new AdminClient(adminConfig);
  namespace = await admin.createNamespace('tokens');
  const body = { metadata: { name: 'robot' } };
  const { status } = await admin.send('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { body });
  expect(status).toBe(201);
});
afterAll(() => admin.close());

async function createPod(name: string): Promise<WirePod> {
  const spec = { serviceAccountName: 'robot', containers: [{ name: 'app', image: 'app:1' }] };
  return podOf(await admin.createPod(namespace, { metadata: { name }, spec }));
}

async function reviewed(token: string, audiences: string[]): Promise<JsonObject> {
  const body = { spec: { token, audiences } };
  const answer = await admin.send('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { body });
  return (answer.body as { status: JsonObject }).status;
}

function tokenManager(): TokenManager {
  const transport = new KubeTransport(adminConfig);
  const manager = new TokenManager({ transport });
  onTestFinished(async () => {
    await manager.stop();
    await transport.close();
  });
  return manager;
}

const signal = new AbortController().signal;

describe('TokenManager', () => {
  it('gets tokens that are bound to the pod, for the audience and the time that were asked for', async () => {
    const manager = tokenManager();
    const pod = await createPod('bound');
    const request = { serviceAccountName: 'robot', audience: 'vault', expirationSeconds: 3607 };
    const { token, expiresAt } = await manager.getToken(pod, request, signal);
    expect(expiresAt - Date.now()).toBeGreaterThan(3_500_000);
    expect(expiresAt - Date.now()).toBeLessThanOrEqual(3_610_000);
    expect(await reviewed(token, ['vault'])).toMatchObject({
      authenticated: true,
      audiences: ['vault'],
      user: {
        username: `system:serviceaccount:${namespace}:robot`,
        extra: {
          'authentication.kubernetes.io/pod-name': ['bound'],
          'authentication.kubernetes.io/pod-uid': [pod.metadata?.uid],
        },
      },
    });
    expect(await reviewed(token, ['other'])).not.toMatchObject({ authenticated: true });
    const own = await manager.getToken(pod, { ...request, audience: '' }, signal);
    expect(own.token).not.toBe(token);
    expect(await reviewed(own.token, [])).toMatchObject({ authenticated: true });
    expect((await manager.getToken(pod, request, signal)).token).toBe(token);
  });

  it('gets none of another account than the one with the uid that is asked for', async () => {
    const manager = tokenManager();
    const pod = await createPod('tied');
    const request = { serviceAccountName: 'robot', audience: 'vault', expirationSeconds: 3607 };
    const { body } = await admin.send('GET', `/api/v1/namespaces/${namespace}/serviceaccounts/robot`);
    const serviceAccountUID = (body as { metadata: { uid: string } }).metadata.uid;
    const { token } = await manager.getToken(pod, { ...request, serviceAccountUID }, signal);
    expect(await reviewed(token, ['vault'])).toMatchObject({ authenticated: true, user: { uid: serviceAccountUID } });
    await expect(manager.getToken(pod, { ...request, serviceAccountUID: 'another' }, signal)).rejects.toThrow(
      'the UID in the token request (another) does not match the UID of the service account',
    );
  });

  it('gets none for a pod or an account that is not there, and a token ends with its pod', async () => {
    const manager = tokenManager();
    const pod = await createPod('short');
    const request = { serviceAccountName: 'robot', audience: '', expirationSeconds: 600 };
    const { token } = await manager.getToken(pod, request, signal);
    await expect(manager.getToken(pod, { ...request, serviceAccountName: 'nobody' }, signal)).rejects.toThrow(
      /^failed to fetch token: .* serviceaccounts "nobody" not found$/,
    );
    await admin.deletePod(namespace, 'short', { gracePeriodSeconds: 0 });
    manager.deletePod(pod.metadata?.uid ?? '');
    await expect(manager.getToken(pod, request, signal)).rejects.toThrow('pods "short" not found');
    await expect.poll(async () => (await reviewed(token, [])).authenticated ?? false, { timeout: 60_000 }).toBe(false);
  });
});

describe('a provider node', () => {
  it('hands the token of a pod to its provider, bound to the pod', async () => {
    const { promise: created, resolve } = Promise.withResolvers<NodePod>();
    const nodeName = 'token-node';
    const provider: PodProvider = { createPod: resolve, deletePod: () => {}, getPodStatus: () => undefined };
    await using node = new ProviderNode({
      kubeConfig: adminConfig,
      nodeName,
      provider,
      namespace,
      logger: null,
      removeOnStop: true,
    });
    await node.start();
    const volumes = [
      { name: 'identity', projected: { sources: [{ serviceAccountToken: { path: 'token', audience: 'vault' } }] } },
    ];
    const volumeMounts = [{ name: 'identity', mountPath: '/identity' }];
    const containers = [{ name: 'app', image: 'app:1', volumeMounts }];
    const spec = { nodeName, serviceAccountName: 'robot', volumes, containers };
    const pod = podOf(await admin.createPod(namespace, { metadata: { name: 'handed' }, spec }));
    const { data, mode } = (await created).files?.identity?.token ?? {};
    expect(mode).toBe(0o644);
    const review = await reviewed(Buffer.from(data ?? []).toString(), ['vault']);
    expect(review).toMatchObject({ authenticated: true, audiences: ['vault'] });
    expect(JSON.stringify(review)).toContain(pod.metadata.uid);
    await admin.deletePod(namespace, 'handed', { gracePeriodSeconds: 0 });
  });
});

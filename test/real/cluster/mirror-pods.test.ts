import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import {
  ApiServerPodSource,
  BasicPodManager,
  KubePodClient,
  KubeTransport,
  StatusManager,
  type WirePod,
} from '../../../src/index.ts';
import { MirrorPodClient, type MirrorPodFailure, MirrorPodReconciler } from '../../../src/mirror.ts';
import { ResourceClient, resources } from '../../../src/reflector.ts';
import { buildRunningStatus, buildStaticPod } from '../../../src/testing.ts';
import { AdminClient } from '../../support/admin-client.ts';
import { podOf } from '../../support/answers.ts';
import { nodeName } from '../../support/control-plane/layout.ts';

let admin: AdminClient;
let namespace: string;

/** A kubeconfig of the node: user system:node:NAME, group system:nodes. */
function nodeConfig(): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(inject('controlPlaneKubeconfig'));
  config.setCurrentContext('node');
  return config;
}

beforeAll(async () => {
  const adminConfig = new KubeConfig();
  adminConfig.loadFromString(inject('controlPlaneKubeconfig'));
  admin = new AdminClient(adminConfig);
  namespace = await admin.createNamespace('mirror-rbac');
});
afterAll(() => admin.close());

function staticPod(name: string, hash = 'hash-1'): WirePod {
  return buildStaticPod({
    metadata: { name, namespace, uid: `${hash}-of-${name}`, annotations: { 'kubernetes.io/config.hash': hash } },
    spec: { nodeName, containers: [{ name: 'app', image: 'app:1' }] },
  });
}

async function served(name: string): Promise<WirePod | undefined> {
  const answer = await admin.getPod(namespace, name);
  return answer.status === 200 ? podOf(answer) : undefined;
}

describe('with the credentials of a node, under the Node authorizer and NodeRestriction', () => {
  it('mirror pods are created as soon as the node is registered, say the status, and are replaced, repaired and removed', async () => {
    const kubeConfig = nodeConfig();
    await using transport = new KubeTransport(kubeConfig);
    await using podClient = KubePodClient.fromKubeConfig(kubeConfig);
    const podManager = new BasicPodManager();
    await using source = new ApiServerPodSource({ logger: null, kubeConfig, nodeName, podManager });
    const nodes = new ResourceClient(transport, resources.nodes);
    const failures: MirrorPodFailure[] = [];
    await using manager = new StatusManager({
      logger: null,
      podClient,
      podManager,
      podSource: source,
      podDeletionSafety: { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false },
    });
    await using reconciler = new MirrorPodReconciler({
      logger: null,
      podManager,
      mirrorPodClient: new MirrorPodClient({ transport, nodeName, getNode: (name) => nodes.get({ name }) }),
      nodeName,
      podSource: source,
      handlers: { failed: (failure) => failures.push(failure) },
    });
    const pod = staticPod('static');
    podManager.addPod(pod);
    manager.setPodStatus(pod, buildRunningStatus(pod));
    manager.start();
    reconciler.start();
    await source.start();
    await expect.poll(() => failures.length, { timeout: 20_000 }).toBeGreaterThan(0);
    expect(failures[0]).toMatchObject({ error: { code: 'ERR_NO_NODE' } });

    const { uid } = (await nodes.create({ metadata: { name: nodeName } })).metadata ?? {};
    const phase = async (): Promise<string | undefined> => (await served('static'))?.status?.phase;
    await expect.poll(phase, { timeout: 20_000 }).toBe('Running');
    const first = await served('static');
    expect(first?.metadata?.ownerReferences).toEqual([{ apiVersion: 'v1', kind: 'Node', name: nodeName, uid, controller: true }]);

    await admin.deletePod(namespace, 'static', { gracePeriodSeconds: 0 });
    const runningAgain = async (): Promise<boolean> => {
      const mirror = await served('static');
      return mirror?.status?.phase === 'Running' && mirror.metadata?.uid !== first?.metadata?.uid;
    };
    await expect.poll(runningAgain, { timeout: 20_000 }).toBe(true);

    const changed = staticPod('static', 'hash-2');
    podManager.removePod(pod);
    podManager.addPod(changed);
    const hash = async (): Promise<string | undefined> =>
      (await served('static'))?.metadata?.annotations?.['kubernetes.io/config.mirror'];
    await expect.poll(hash, { timeout: 20_000 }).toBe('hash-2');

    podManager.removePod(changed);
    await expect.poll(() => served('static'), { timeout: 20_000 }).toBeUndefined();
  });

  it('the server refuses a mirror pod of another node, and one that names a secret', async () => {
    const kubeConfig = nodeConfig();
    await using transport = new KubeTransport(kubeConfig);
    const nodes = new ResourceClient(transport, resources.nodes);
    const client = new MirrorPodClient({ transport, nodeName, getNode: (name) => nodes.get({ name }) });
    const elsewhere = {
      ...staticPod('elsewhere'),
      spec: { nodeName: 'another-node', containers: [{ name: 'app', image: 'app:1' }] },
    };
    await expect(client.createMirrorPod(elsewhere)).rejects.toMatchObject({ status: 403, reason: 'Forbidden' });
    const volumes = [{ name: 'secret', secret: { secretName: 'secret' } }];
    const spec = { nodeName, containers: [{ name: 'app', image: 'app:1' }], volumes };
    await expect(client.createMirrorPod({ ...staticPod('with-secret'), spec })).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('can not create pods that reference secrets'),
    });
    expect(await served('elsewhere')).toBeUndefined();
  });
});

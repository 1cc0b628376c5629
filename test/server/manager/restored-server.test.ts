import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Pod } from '../../../src/api/json/types.ts';
import { ApiServerPodSource } from '../../../src/node/sources/api-server-pod-source.ts';
import { BasicPodManager } from '../../../src/status/pods/basic-pod-manager.ts';
import { podOf } from '../../support/answers.ts';
import { type RestorableServer, startRestorableServer } from '../../support/restorable-server.ts';
import { podJson } from '../pods-contract/pods-contract-fixture.ts';
import { Facts } from './facts.ts';

let server: RestorableServer;

beforeAll(async () => {
  server = await startRestorableServer();
});
afterAll(() => server.stop());

const namespace = 'default';
const nodeName = 'restored-node';

async function create(name: string) {
  return podOf(await server.admin.createPod(namespace, podJson(name, { spec: { nodeName } })));
}

describe('a pod source, when etcd is restored from an older backup', () => {
  it('sets the pod manager to the server’s present pods, and then shows new changes', async () => {
    const facts = new Facts();
    const podManager = new BasicPodManager();
    const found = (name: string): Pod | undefined => podManager.getPodByName(namespace, name);
    const seen = (name: string, isWanted: (pod: Pod | undefined) => boolean) =>
      facts.until(`the source shows ${name} as wanted`, () => isWanted(found(name)));
    const changed = await create('changed');
    await create('deleted');
    await server.backUp();

    // short, because a restored server is silent to a watch from a resourceVersion that it has not reached again
    const handlers = { podAdded: facts.changed, podUpdated: facts.changed, podDeleted: facts.changed };
    const kubeConfig = server.kubeConfig();
    await using source = new ApiServerPodSource({
      logger: null,
      kubeConfig,
      nodeName,
      podManager,
      handlers,
      idleTimeoutMs: 1000,
    });
    await source.start();
    await server.admin.patchPodStatus(namespace, 'changed', { status: { message: 'lost' } });
    await server.admin.deletePod(namespace, 'deleted', { gracePeriodSeconds: 0 });
    await create('made');
    await seen('made', (pod) => pod !== undefined);
    expect([found('changed')?.status?.message, found('deleted')]).toEqual(['lost', undefined]);
    const listedAt = source.lastListedAt() ?? Number.NaN;
    const wasMissing: boolean[] = [];
    podManager.subscribe(() => wasMissing.push(found('changed') === undefined));

    await server.restore();
    await seen('made', (pod) => pod === undefined);
    await seen('changed', (pod) => pod?.metadata?.resourceVersion === changed.metadata.resourceVersion);
    expect(found('changed')?.status).toEqual(changed.status);
    expect(found('deleted')).toBeDefined();
    expect(wasMissing).not.toContain(true);
    expect(source.lastListedAt()).toBeGreaterThan(listedAt);

    await server.admin.patchPodStatus(namespace, 'changed', { status: { message: 'written since' } });
    await seen('changed', (pod) => pod?.status?.message === 'written since');
  });
});

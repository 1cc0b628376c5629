import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NodePod } from '../../../src/node.ts';
import { Cloud } from '../../support/fleet/cloud.ts';
import { CloudClient, cloudVersionOf } from '../../support/fleet/cloud-provider.ts';
import { until } from '../../support/until.ts';

const containers = [{ name: 'app', image: 'app:1' }];
const pod: NodePod = {
  metadata: { uid: 'u1', name: 'web', namespace: 'default' },
  spec: { nodeName: 'north', containers, restartPolicy: 'Never' },
};
const call = { signal: new AbortController().signal };
const toDelete = { ...call, gracePeriodSeconds: 1 };

let cloud: Cloud;
let client: CloudClient;
beforeEach(async () => {
  cloud = await Cloud.start(1);
  client = new CloudClient(cloud.url, 'a');
});
afterEach(async () => {
  await client[Symbol.asyncDispose]();
  await cloud[Symbol.asyncDispose]();
});

describe('the cloud of a fleet’s pods', () => {
  it('keeps what one member created for the next, and says by a version how new a status is', async () => {
    await client.provider('north').createPod(pod, call);
    await client[Symbol.asyncDispose]();
    client = new CloudClient(cloud.url, 'b');
    const provider = client.provider('north');
    expect(await provider.getPods?.(call)).toMatchObject([{ metadata: { uid: 'u1', name: 'web' }, spec: { nodeName: 'north' } }]);
    const before = await provider.getPodStatus(pod, call);
    expect(before).toMatchObject({ phase: 'Running', message: 'cloud version 1', containerStatuses: [{ restartCount: 0 }] });
    cloud.changeOne();
    expect(await provider.getPodStatus(pod, call)).toMatchObject({ message: 'cloud version 2' });
    expect(await client.provider('south').getPods?.(call)).toEqual([]);
  });

  it('takes no pod twice, not even after its end, and has each call in its ledger', async () => {
    const provider = client.provider('north');
    await provider.createPod(pod, call);
    await expect(provider.createPod(pod, call)).rejects.toThrow('409');
    expect(await provider.deletePod(pod, toDelete)).toMatchObject([{ name: 'app', state: 'exited', exitCode: 143 }]);
    expect(await provider.getPodStatus(pod, call)).toBeUndefined();
    expect(await provider.deletePod(pod, toDelete)).toBeUndefined();
    await expect(provider.createPod(pod, call)).rejects.toThrow('409');
    expect(cloud.ledger.map(({ member, call: what, wasThere }) => `${member} ${what} ${wasThere}`)).toEqual([
      'a create false',
      'a create true',
      'a delete true',
      'a delete false',
      'a create true',
    ]);
  });

  it('tells the node of each change, and the last provider of a node alone', async () => {
    const told: string[] = [];
    client.provider('north').notifyPods?.(() => told.push('the first provider'), {} as never);
    const provider = client.provider('north');
    provider.notifyPods?.((uid) => told.push(String(uid)), {} as never);
    await provider.createPod(pod, call);
    await until(() => told.length === 1);
    cloud.changeOne();
    await until(() => told.length === 2);
    expect(told).toEqual(['u1', 'u1']);
  });

  it('does nothing while it is away, and tells nobody of what it does while it loses answers', async () => {
    const provider = client.provider('north');
    cloud.isAway = true;
    await expect(provider.createPod(pod, call)).rejects.toThrow('503');
    expect(cloud.pods).toEqual([]);
    cloud.isAway = false;
    cloud.losesAnswers = true;
    await expect(provider.createPod(pod, call)).rejects.toThrow();
    expect(cloud.ledger).toMatchObject([{ call: 'create', wasThere: false }]);
    expect(await provider.getPodStatus(pod, call)).toMatchObject({ phase: 'Running' });
  });

  it('finds no version in other words', () => {
    expect(['cloud version 12', 'version 12', undefined].map(cloudVersionOf)).toEqual([12, undefined, undefined]);
  });
});

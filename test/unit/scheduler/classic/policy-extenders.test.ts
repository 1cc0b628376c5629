import { describe, expect, it } from 'vitest';
import { extendersOfPolicy } from '../../../../src/scheduler/classic/policy-extenders.ts';
import { policyProfile, readPolicy } from '../../../../src/scheduler.ts';
import { all, extenderServer } from '../extenders/extender-world.ts';
import { node, pod, schedulerWorld } from '../scheduler-world.ts';

describe('the extenders of a policy file', () => {
  it('are read in their old form', () => {
    const policy = readPolicy(`
kind: Policy
apiVersion: v1
extenders:
  - urlPrefix: https://gpu.example.com/
    filterVerb: filter
    enableHttps: true
    httpTimeout: 1500000000
    nodeCacheCapable: true
    ignorable: null
    managedResources: [{ name: example.com/gpu, ignoredByScheduler: true }]
`);
    expect(extendersOfPolicy(policy)).toMatchObject([{ enableHTTPS: true, httpTimeout: '1500000000ns', filterVerb: 'filter' }]);
    expect(extendersOfPolicy(readPolicy({ predicates: [] }))).toEqual([]);
  });

  it('have a say in the profile of the policy alone, and keep the accounts of what they manage', async () => {
    await using server = await extenderServer({ filter: ({ nodes }) => ({ NodeNames: nodes.filter((name) => name !== 'n1') }) });
    const managedResources = [{ name: 'example.com/gpu', ignoredByScheduler: true }];
    const extender = { urlPrefix: server.url, filterVerb: 'filter', nodeCacheCapable: true, managedResources };
    const policy = { predicates: [{ name: 'PodFitsResources' }], priorities: [], extenders: [extender] };
    const profiles = [{ schedulerName: 'other' }, policyProfile(policy)];
    const { scheduler, told } = schedulerWorld({ profiles });
    for (const name of ['n1', 'n2']) scheduler.setNode(node(name));
    const containers = [{ name: 'c', image: 'i', resources: { requests: { 'example.com/gpu': '1' } } }];
    scheduler.setPod(pod('gpu', '1', { containers }));
    scheduler.setPod(pod('other', '1', { containers, schedulerName: 'other' }));
    scheduler.start();
    await scheduler.flush();
    expect(told).toContain('bind gpu n2');
    expect(told.join()).toContain('FailedScheduling other: 0/2 nodes are available: 2 Insufficient example.com/gpu.');
    expect(server.verbs()).toEqual(['filter gpu']);
    await scheduler.stop();
  });

  it('have no part in it where those of the scheduler keep the accounts: that counts under a policy, too', async () => {
    await using server = await extenderServer({ filter: all });
    const managedResources = [{ name: 'example.com/gpu', ignoredByScheduler: true }];
    const extenders = [{ urlPrefix: server.url, filterVerb: 'filter', nodeCacheCapable: true, managedResources }];
    const profiles = [policyProfile({ predicates: [{ name: 'PodFitsResources' }], priorities: [] })];
    const { scheduler, told } = schedulerWorld({ profiles, extenders });
    scheduler.setNode(node('n1'));
    const containers = [{ name: 'c', image: 'i', resources: { requests: { 'example.com/gpu': '1' } } }];
    scheduler.setPod(pod('gpu', '1', { containers }));
    scheduler.start();
    await scheduler.flush();
    expect([told[0], server.verbs()]).toEqual(['bind gpu n1', ['filter gpu']]);
    await scheduler.stop();
  });
});

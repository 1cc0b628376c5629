import { describe, expect, it } from 'vitest';
import type { WireLease } from '../../../../src/api/json/types.ts';
import { heldLease } from '../../../../src/client/leases/observed-lease.ts';
import { resources } from '../../../../src/client/resources/api-resource.ts';
import { knownKinds } from '../../../../src/testing/kinds/known-kinds.ts';
import { ResourceStore } from '../../../../src/testing/objects/resource-store.ts';

const holder = { namespace: 'kube-system', name: 'edge', identity: 'a', leaseDurationMs: 15_000 };

describe('a Lease that its holder renews', () => {
  it('has another version each time, also where the clock was set back to the last renewal', () => {
    const rules = knownKinds().find(({ resource }) => resource.kind === 'Lease')?.rules;
    if (rules === undefined) throw new Error('there are no rules of Leases');
    const store = new ResourceStore<WireLease>(resources.leases, rules);
    let lease = store.create(heldLease(undefined, holder, 1000));
    const versions = [lease.metadata?.resourceVersion];
    for (const now of [6000, 6000, 6000, 1000]) {
      lease = store.update(heldLease(lease, holder, now));
      versions.push(lease.metadata?.resourceVersion);
    }
    expect(new Set(versions).size).toBe(5);
  });

  it('says when it was renewed', () => {
    const lease = heldLease(heldLease(undefined, holder, 1000), holder, 6000);
    expect(lease.spec).toMatchObject({ acquireTime: '1970-01-01T00:00:01.000000Z', renewTime: '1970-01-01T00:00:06.000000Z' });
  });
});

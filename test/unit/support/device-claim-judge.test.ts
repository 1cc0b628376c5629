import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json/types.ts';
import { judgeDeviceClaims } from '../../support/device-claims/device-claim-judge.ts';
import { type DeviceClaimVersion, deviceClaimVersion } from '../../support/device-claims/device-claim-record.ts';

interface ClaimShape {
  readonly device?: string;
  readonly adminAccess?: boolean;
  readonly nodeName?: string;
  readonly reservedFor?: readonly string[];
}

/** Writes a history as etcd has it. */
class Story {
  readonly versions: DeviceClaimVersion[] = [];

  claim(name: string, { device, adminAccess, nodeName = 'n1', reservedFor = [] }: ClaimShape = {}): this {
    const matchFields = [{ key: 'metadata.name', operator: 'In', values: [nodeName] }];
    const results = [{ request: 'it', driver: 'd', pool: 'p', device, ...(adminAccess && { adminAccess }) }];
    const allocation = { devices: { results }, nodeSelector: { nodeSelectorTerms: [{ matchFields }] } };
    const pods = reservedFor.map((pod) => ({ resource: 'pods', name: pod, uid: `uid-of-${pod}` }));
    const status = device === undefined ? {} : { allocation, reservedFor: pods };
    return this.put(`resourceclaims/d/${name}`, { metadata: { uid: `uid-of-${name}` }, status } as unknown as JsonObject);
  }

  /** From a template; `made`: the claim's name. */
  pod(name: string, made?: string, nodeName?: string, phase = nodeName === undefined ? 'Pending' : 'Running'): this {
    const resourceClaims = [{ name: 'it', resourceClaimTemplateName: 't' }];
    const resourceClaimStatuses = made === undefined ? [] : [{ name: 'it', resourceClaimName: made }];
    const metadata = { uid: `uid-of-${name}`, namespace: 'd' };
    const spec = { resourceClaims, ...(nodeName !== undefined && { nodeName }) };
    return this.put(`pods/d/${name}`, { metadata, spec, status: { phase, resourceClaimStatuses } });
  }

  put(key: string, object: JsonObject | undefined): this {
    this.versions.push(deviceClaimVersion({ revision: this.versions.length + 1, key, object }));
    return this;
  }
}

/** A pod that gets the device of its claim, and then its node. */
const whole = (): Story =>
  new Story()
    .pod('p1')
    .claim('c1')
    .pod('p1', 'c1')
    .claim('c1', { device: 'one', reservedFor: ['p1'] })
    .pod('p1', 'c1', 'n1');

const rulesBroken = ({ versions }: Story, pods = 1): string[] => judgeDeviceClaims(versions, { pods }).map(({ rule }) => rule);

describe('judgeDeviceClaims', () => {
  it('finds nothing where each pod has its devices, also once they went from one pod to another', () => {
    const next = whole()
      .put('pods/d/p1', undefined)
      .claim('c1')
      .pod('p2', 'c2')
      .claim('c2', { device: 'one', nodeName: '', reservedFor: ['p2'] })
      .pod('p2', 'c2', 'n2');
    expect([rulesBroken(whole()), rulesBroken(next)]).toEqual([[], []]);
    // admin access takes nothing
    expect(
      rulesBroken(
        whole()
          .claim('c2', { device: 'one', adminAccess: true, reservedFor: ['p2'] })
          .pod('p2', 'c2', 'n1'),
        2,
      ),
    ).toEqual([]);
  });

  it('finds a device of two claims, a claim that changes its device, and one that loses it under a pod', () => {
    const both = whole()
      .claim('c2', { device: 'one', reservedFor: ['p2'] })
      .pod('p2', 'c2', 'n1');
    expect(rulesBroken(both, 2)).toEqual(['a device was given to two claims']);
    const other = whole().claim('c1', { device: 'two', reservedFor: ['p1'] });
    expect(rulesBroken(other)).toEqual(['a claim went from one device to another']);
    expect(rulesBroken(whole().claim('c1'))).toEqual(['a pod lost its devices']);
  });

  it('finds a pod that was bound twice, too early, or where its devices are not', () => {
    expect(rulesBroken(whole().pod('p1', 'c1', 'n2'))).toEqual([
      'a pod was bound twice',
      'a pod is out of the reach of its devices',
      'left: a claim',
    ]);
    const early = 'a pod was bound before its claims';
    expect(rulesBroken(new Story().pod('p1', undefined, 'n1'))).toEqual([early]);
    expect(rulesBroken(new Story().claim('c1').pod('p1', 'c1', 'n1'))).toEqual([early]);
    expect(rulesBroken(new Story().claim('c1', { device: 'one' }).pod('p1', 'c1', 'n1'))).toEqual([early, 'left: a claim']);
  });

  it('finds what is left: pods without a node or a run, and claims that keep devices for nobody, or for who is gone', () => {
    expect(rulesBroken(new Story().pod('p1'))).toEqual(['left: a pod']);
    expect(rulesBroken(whole().pod('p1', 'c1', 'n1', 'Pending'))).toEqual(['left: a pod']);
    expect(rulesBroken(whole(), 2)).toEqual(['left: a pod']);
    expect(rulesBroken(whole().put('pods/d/p1', undefined), 0)).toEqual(['left: a claim']);
    expect(rulesBroken(new Story().claim('c1', { device: 'one' }), 0)).toEqual(['left: a claim']);
    const waiting = whole()
      .pod('p2', 'c2')
      .claim('c2', { device: 'two', reservedFor: ['p2'] });
    expect(rulesBroken(waiting, 2)).toEqual(['left: a pod', 'left: a claim']);
  });
});

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json/types.ts';
import { judgeStorage } from '../../support/storage/storage-judge.ts';
import { type StorageRecord, type StorageVersion, storageVersion, zoneLabel } from '../../support/storage/storage-record.ts';

interface ClaimShape {
  readonly uid?: string;
  readonly volumeName?: string;
  readonly phase?: string;
  readonly selectedNode?: string;
}

/** Writes a history as etcd has it. */
class Story {
  readonly versions: StorageVersion[] = [];

  volume(name: string, claimUid: string | undefined, phase = claimUid === undefined ? 'Available' : 'Bound', zone = 'a'): this {
    const nodeSelectorTerms = [{ matchExpressions: [{ key: zoneLabel, operator: 'In', values: [zone] }] }];
    const claimRef = claimUid === undefined ? {} : { claimRef: { uid: claimUid } };
    const spec = { ...claimRef, nodeAffinity: { required: { nodeSelectorTerms } } };
    return this.put(`persistentvolumes/${name}`, { spec, status: { phase } });
  }

  claim(name: string, { uid = 'u1', volumeName, phase = 'Bound', selectedNode }: ClaimShape = {}): this {
    const annotations = {
      ...(volumeName !== undefined && { 'pv.kubernetes.io/bind-completed': 'yes' }),
      ...(selectedNode !== undefined && { 'volume.kubernetes.io/selected-node': selectedNode }),
    };
    return this.put(`persistentvolumeclaims/d/${name}`, {
      metadata: { uid, annotations },
      spec: volumeName === undefined ? {} : { volumeName },
      status: { phase },
    });
  }

  pod(name: string, claimName: string, nodeName?: string, phase = nodeName === undefined ? 'Pending' : 'Running'): this {
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName } }];
    const spec = { volumes, ...(nodeName !== undefined && { nodeName }) };
    return this.put(`pods/d/${name}`, { metadata: { uid: `uid-of-${name}`, namespace: 'd' }, spec, status: { phase } });
  }

  put(key: string, object: JsonObject | undefined): this {
    this.versions.push(storageVersion({ revision: this.versions.length + 1, key, object }));
    return this;
  }
}

/** One claim that gets its volume, and its pod the node. */
const whole = (): Story =>
  new Story()
    .volume('v1', undefined)
    .claim('c1', { phase: 'Pending' })
    .pod('p1', 'c1')
    .volume('v1', 'u1', 'Available')
    .claim('c1', { volumeName: 'v1', phase: 'Pending' })
    .volume('v1', 'u1')
    .claim('c1', { volumeName: 'v1' })
    .pod('p1', 'c1', 'n1');

function rulesBroken({ versions }: Story, more: Partial<StorageRecord> = {}): string[] {
  const zoneOfNode = new Map([
    ['n1', 'a'],
    ['n2', 'b'],
  ]);
  const created = new Map([['n1', ['d/p1']]]);
  const record = { versions, zoneOfNode, wanted: { pods: 1, claims: 1 }, created, ...more };
  return [...new Set(judgeStorage(record).map(({ rule }) => rule))];
}

describe('the judge of storage', () => {
  it('finds nothing where a claim gets its volume, and then its pod a node', () => {
    expect(rulesBroken(whole())).toEqual([]);
  });

  it('finds nothing in a refused volume, whose claim then gets another node', () => {
    const refused = new Story().claim('c1', { phase: 'Pending' }).claim('c1', { phase: 'Pending', selectedNode: 'n2' });
    refused.claim('c1', { phase: 'Pending' }).claim('c1', { phase: 'Pending', selectedNode: 'n1' });
    refused.versions.push(...whole().versions.slice(3));
    expect(rulesBroken(refused)).toEqual([]);
  });

  it.each<[string, (story: Story) => Story]>([
    ['a volume went from one claim to another', (story) => story.volume('v1', 'u2').volume('v1', 'u1')],
    ['a volume was taken back from its claim', (story) => story.volume('v1', undefined).volume('v1', 'u1')],
    [
      'a claim went from one volume to another',
      (story) => story.claim('c1', { volumeName: 'v2' }).claim('c1', { volumeName: 'v1' }),
    ],
    ['a pod was bound twice', (story) => story.pod('p1', 'c1', 'n2').pod('p1', 'c1', 'n1')],
    ['a volume was lost', (story) => story.put('persistentvolumes/v2', {}).put('persistentvolumes/v2', undefined)],
    ['a volume was lost', (story) => story.volume('v2', undefined, 'Released')],
    ['left: a claim', (story) => story.claim('c1', { volumeName: 'v1', phase: 'Lost' })],
    ['left: a pod', (story) => story.pod('p1', 'c1', 'n1', 'Failed')],
  ])('finds that %s', (rule, happens) => {
    expect(rulesBroken(happens(whole()))).toEqual([rule]);
  });

  it('finds two volumes of one claim, of which one is lost', () => {
    expect(rulesBroken(whole().volume('v2', 'u1'))).toEqual(['two volumes for one claim', 'a volume was lost']);
  });

  it('finds a claim that goes from one node to another', () => {
    const story = new Story().claim('c1', { selectedNode: 'n1' }).claim('c1', { selectedNode: 'n2' });
    story.versions.push(...whole().versions.slice(2));
    expect(rulesBroken(story)).toEqual(['a claim went from one node to another']);
  });

  it('finds a pod that was bound before its claim was', () => {
    const { versions } = whole();
    const story = new Story();
    story.versions.push(...versions.slice(0, 3), ...versions.slice(-1), ...versions.slice(3, -1));
    expect(rulesBroken(story)).toEqual(['a pod was bound before its claims']);
  });

  it('finds a pod in another zone than its volume', () => {
    const story = whole();
    story.volume('v1', 'u1', 'Bound', 'b');
    expect(rulesBroken(story)).toEqual(['a pod is out of the reach of its volume']);
  });

  it.each<[string, Record<string, string[]>]>([
    ['on another node', { n1: ['d/p1'], n2: ['d/p1'] }],
    ['twice', { n1: ['d/p1', 'd/p1'] }],
  ])('finds a pod that was run %s', (_, created) => {
    expect(rulesBroken(whole(), { created: new Map(Object.entries(created)) })).toEqual(['a pod was run elsewhere, or twice']);
  });

  it('finds what is missing, or was left without anything', () => {
    expect(rulesBroken(whole(), { wanted: { pods: 2, claims: 2 } })).toEqual(['left: a claim', 'left: a pod']);
    const waits = new Story().claim('c1', { phase: 'Pending' }).pod('p1', 'c1');
    expect(rulesBroken(waits, { created: new Map() })).toEqual(['left: a claim', 'left: a pod']);
  });
});

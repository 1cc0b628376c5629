import { describe, expect, it } from 'vitest';
import { Nominator } from '../../../../src/scheduler/cache/nominator.ts';
import { createPodInfo } from '../../../../src/scheduler/nodes/pod-info.ts';

const podInfo = (name: string, nominatedNodeName?: string) =>
  createPodInfo({
    metadata: { name, namespace: 'd', uid: `u-${name}` },
    ...(nominatedNodeName !== undefined && { status: { nominatedNodeName } }),
  });
const names = (nominator: Nominator, node: string) => nominator.onNode(node).map(({ name }) => name);

describe('a nominator', () => {
  it('promises nodes, and takes a promise back', () => {
    const nominator = new Nominator();
    nominator.nominate(podInfo('a'), 'n1');
    nominator.nominate(podInfo('b'), 'n1');
    expect(names(nominator, 'n1')).toEqual(['a', 'b']);
    nominator.nominate(podInfo('a'), 'n2');
    expect([names(nominator, 'n1'), names(nominator, 'n2'), nominator.nodeOf('u-a')]).toEqual([['b'], ['a'], 'n2']);
    nominator.nominate(podInfo('a'), '');
    nominator.delete('u-b');
    nominator.delete('u-b');
    expect([names(nominator, 'n1'), names(nominator, 'n2'), nominator.nodeOf('u-a')]).toEqual([[], [], undefined]);
  });

  it('follows the node that the status names', () => {
    const nominator = new Nominator();
    nominator.set(podInfo('a', 'n1'));
    expect(names(nominator, 'n1')).toEqual(['a']);
    nominator.set(podInfo('a', 'n2'));
    expect([names(nominator, 'n1'), names(nominator, 'n2')]).toEqual([[], ['a']]);
    nominator.set(podInfo('a', ''));
    expect(names(nominator, 'n2')).toEqual([]);
  });

  it('keeps a promise that no status has named yet, and gives out the newest version of the pod', () => {
    const nominator = new Nominator();
    nominator.nominate(podInfo('a'), 'n1');
    const newer = podInfo('a');
    nominator.set(newer);
    expect(nominator.onNode('n1')).toEqual([newer]);
    expect(nominator.onNode('n1')[0]).toBe(newer);
    nominator.set(podInfo('b'));
    expect(nominator.nodeOf('u-b')).toBeUndefined();
  });
});

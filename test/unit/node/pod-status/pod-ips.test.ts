// After pkg/kubelet/kubelet_pods_test.go, v1.36.3: Test_sortPodIPs, TestGenerateAPIPodStatusHostNetworkPodIPs, TestGenerateAPIPodStatusPodIPs.
import { describe, expect, it } from 'vitest';
import { addressMembers, parseAddress, podIPsInOrder } from '../../../../src/node/pod-status/pod-ips.ts';

describe('podIPsInOrder', () => {
  it.each<[string, string[], string[], string[]]>([
    ['one address', ['10.0.0.1'], ['192.0.2.1'], ['10.0.0.1']],
    ['IPv4 first', ['fd00::1', '10.0.0.1'], ['192.0.2.1'], ['10.0.0.1', 'fd00::1']],
    ['IPv6 first', ['10.0.0.1', 'fd00::1'], ['2001:db8::1'], ['fd00::1', '10.0.0.1']],
    ['IPv4 first where the node’s is not known', ['fd00::1', '10.0.0.1'], [], ['10.0.0.1', 'fd00::1']],
    ['the first of each family', ['10.0.0.2', '10.0.0.1', 'fd00::2', 'fd00::1'], [], ['10.0.0.2', 'fd00::2']],
    ['only the other family', ['fd00::1'], ['192.0.2.1'], ['fd00::1']],
    ['none', [], ['192.0.2.1'], []],
    ['what is no address is left out', ['', 'nowhere', '10.0.0.256', '10.0.0.1'], ['192.0.2.1'], ['10.0.0.1']],
  ])('%s', (_, podIPs, nodeIPs, expected) => {
    expect(podIPsInOrder(podIPs, nodeIPs)).toEqual(expected);
  });
});

describe('parseAddress', () => {
  it.each([
    ['010.001.000.009', { family: 4, text: '10.1.0.9' }],
    ['FD00:0:0:0:0:0:0:00A1', { family: 6, text: 'fd00::a1' }],
    ['::', { family: 6, text: '::' }],
    ['::ffff:10.1.2.3', { family: 4, text: '10.1.2.3' }],
    ['fe80::1%eth0', undefined],
    ['10.0.0', undefined],
    ['10.0.0.1/8', undefined],
    [undefined, undefined],
    [7, undefined],
  ])('%s', (text, expected) => {
    expect(parseAddress(text)).toEqual(expected);
  });
});

describe('addressMembers', () => {
  const dual = ['192.0.2.1', '2001:db8::1'];
  const ips = (...list: string[]) => list.map((ip) => ({ ip }));

  it.each<[string, string[], string[], boolean, string[]]>([
    ['a pod of its own network keeps its own', ['10.0.0.1'], dual, false, ['10.0.0.1']],
    ['a pod in the node’s network has the node’s', [], ['192.0.2.1'], true, ['192.0.2.1']],
    ['both of them', [], dual, true, dual],
    ['it keeps the one it has, and gets the second', ['192.0.2.9'], dual, true, ['192.0.2.9', '2001:db8::1']],
    ['the second of the same family is not added', ['2001:db8::9'], dual, true, ['2001:db8::9']],
    ['nothing follows without the node’s addresses', [], [], true, []],
  ])('%s', (_, podIPs, hostIPs, hostNetwork, expected) => {
    const members = addressMembers(podIPs, hostIPs, hostNetwork);
    expect(members.podIPs ?? []).toEqual(ips(...expected));
    expect(members.podIP).toBe(expected[0]);
    expect(members.hostIPs ?? []).toEqual(ips(...hostIPs));
    expect(members.hostIP).toBe(hostIPs[0]);
  });
});

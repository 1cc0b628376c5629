import { describe, expect, it } from 'vitest';
import { hasFreePorts, hostPortsOf, portsConflict } from '../../../../src/api/pod/host-ports.ts';
import { findUntoleratedTaint, type Toleration, tolerates } from '../../../../src/api/selectors/taints.ts';

describe('a toleration', () => {
  const taint = { key: 'team', value: 'a', effect: 'NoSchedule' };

  it.each<[Toleration, boolean]>([
    [{ key: 'team', value: 'a' }, true],
    [{ key: 'team', operator: 'Equal', value: 'a', effect: 'NoSchedule' }, true],
    [{ key: 'team', operator: 'Equal', value: 'b' }, false],
    [{ key: 'team', operator: 'Exists' }, true],
    [{ operator: 'Exists' }, true],
    [{ operator: 'Exists', effect: 'NoExecute' }, false],
    [{ key: 'disk', operator: 'Exists' }, false],
    [{ key: 'team', operator: 'Gt', value: 'a' }, false],
    [{ key: 'team' }, false],
  ])('%j', (toleration, isTolerated) => {
    expect(tolerates(toleration, taint)).toBe(isTolerated);
  });

  it('leaves the first taint with one of the effects that no toleration tolerates', () => {
    const taints = [taint, { key: 'slow', effect: 'PreferNoSchedule' }, { key: 'down', effect: 'NoExecute' }];
    expect(findUntoleratedTaint(taints, undefined, ['NoExecute', 'NoSchedule'])).toBe(taint);
    expect(findUntoleratedTaint(taints, [{ key: 'team', operator: 'Exists' }], ['NoExecute', 'NoSchedule'])).toBe(taints[2]);
    expect(findUntoleratedTaint(taints, [], ['PreferNoSchedule'])).toBe(taints[1]);
    expect(findUntoleratedTaint(undefined, [], ['NoSchedule'])).toBeUndefined();
  });
});

describe('ports of the node', () => {
  const pod = (hostPort: number, hostIP?: string, protocol?: string) => ({
    spec: {
      containers: [
        { name: 'c', ports: [{ containerPort: 1, hostPort, ...(hostIP && { hostIP }), ...(protocol && { protocol }) }] },
      ],
    },
  });

  it('are those of sidecars and regular containers', () => {
    const ports = [{ containerPort: 1, hostPort: 80 }, { containerPort: 2 }];
    const initContainers = [
      { name: 'i', ports },
      { name: 's', restartPolicy: 'Always', ports },
    ];
    expect(
      hostPortsOf({
        spec: { containers: [{ name: 'c', ports: [{ containerPort: 3, hostPort: 90, protocol: 'UDP' }] }], initContainers },
      }),
    ).toEqual([
      { ip: '0.0.0.0', protocol: 'TCP', port: 80 },
      { ip: '0.0.0.0', protocol: 'UDP', port: 90 },
    ]);
  });

  it.each([
    [pod(80), pod(80), false],
    [pod(80), pod(81), true],
    [pod(80, '10.0.0.1'), pod(80, '10.0.0.2'), true],
    [pod(80, '10.0.0.1'), pod(80), false],
    [pod(80), pod(80, undefined, 'UDP'), true],
  ])('conflict on the same address only: %j, %j', (one, other, isFree) => {
    expect(hasFreePorts(one, [other])).toBe(isFree);
    expect(portsConflict(hostPortsOf(one)[0] as never, hostPortsOf(other)[0] as never)).toBe(!isFree);
  });
});

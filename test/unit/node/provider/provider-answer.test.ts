import { describe, expect, it } from 'vitest';
import type { WirePodStatus } from '../../../../src/api/json/types.ts';
import { endedStatus, readAnswer } from '../../../../src/node/provider/provided-status.ts';
import { ProviderWorld } from './provider-world.ts';

const container = { name: 'app', image: '', imageID: '', ready: true, restartCount: 0, state: { running: {} } };
const phase = 'Running';

describe('an answer of getPodStatus', () => {
  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a phase', { phase }],
    ['container statuses', { containerStatuses: [container] }],
    ['init container statuses', { initContainerStatuses: [container] }],
    ['addresses of both families', { phase, podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] }],
    ['host addresses', { phase, hostIP: '10.0.0.1', hostIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] }],
    ['every other text', { phase, message: 'm', reason: 'r', startTime: '2000-01-01T00:00:00Z', conditions: [] }],
  ])('may be %s', (_, answer) => {
    expect(() => readAnswer(answer)).not.toThrow();
  });

  it.each([
    ['status', 'Running'],
    ['status', []],
    ['status.phase', {}],
    ['status.phase', { phase: '' }],
    ['status.phase', { phase: 'running' }],
    ['status.phase', { phase: 'Unknown' }],
    ['status.phase', { containerStatuses: [], podIP: '10.0.0.1' }],
    ['status.metadata', { metadata: {}, spec: {}, status: { phase } }],
    ['status.podIP', { phase, podIP: 'not-an-ip' }],
    ['status.podIP', { phase, podIP: 'fe80::1%eth0' }],
    ['status.podIP', { phase, podIP: 7 }],
    ['status.podIPs[1].ip', { phase, podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0' }] }],
    ['status.hostIP', { phase, hostIP: 'host' }],
    ['status.hostIPs[0].ip', { phase, hostIPs: [{ ip: 'host' }] }],
    ['status.hostIPs', { phase, hostIP: '10.0.0.1', hostIPs: [{ ip: '10.0.0.2' }] }],
    ['status.hostIPs', { phase, hostIP: '10.0.0.1', hostIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] }],
    ['status.startTime', { phase, startTime: 'yesterday' }],
    ['status.message', { phase, message: 7 }],
    ['status.containerStatuses[0].ready', { phase, containerStatuses: [{ ...container, ready: 'yes' }] }],
    ['status.containerStatuses[0].restartCount', { phase, containerStatuses: [{ ...container, restartCount: '1' }] }],
  ])('is refused by the name of its member: %s of %j', (member, answer) => {
    expect(() => readAnswer(answer)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }));
    expect(() => readAnswer(answer)).toThrow(`\`${member}\``);
  });

  it('may have members of a newer server', () => {
    expect(readAnswer({ phase, newlyAdded: { a: 1 } })).toMatchObject({ phase, newlyAdded: { a: 1 } });
  });

  it('that is refused is told of with the pod and the member, and keeps no pod from its end', async () => {
    await using world = new ProviderWorld();
    world.provider.begin = () => ({ phase, podIP: 'not-an-ip' });
    await world.create('web');
    await world.clock.advance(30_000);
    const said = 'The provider does not say how the pod is: getPodStatus() gave an answer that is refused';
    expect(world.events).toEqual([
      `web Warning ProviderStatusFailed: ${said}: Expected \`status.podIP\` to be an IP address, got "not-an-ip" (string)`,
    ]);
    await world.delete('web', 5);
    await world.clock.advance(60_000);
    expect(world.isGone('web')).toBe(true);
  });
});

describe('the last status of a pod', () => {
  it('has no address of the status before that the server does not take', () => {
    const pod = { metadata: { name: 'p', namespace: 'd', uid: 'u' }, spec: { containers: [{ name: 'app' }] } };
    const bad = { podIP: 'x', podIPs: [{ ip: 'x' }], hostIP: 'y', hostIPs: [{ ip: 'y' }] };
    const previous: WirePodStatus = { phase, ...bad };
    const status = endedStatus({ pod, previous, hostIPs: [], now: 0 }, undefined);
    expect(status.qosClass).toBe('BestEffort');
    for (const member of Object.keys(bad)) expect(status).not.toHaveProperty(member);
    const good: WirePodStatus = { phase, podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }], hostIP: '10.0.0.9' };
    expect(endedStatus({ pod, previous: good, hostIPs: [], now: 0 }, undefined)).toMatchObject({ ...good, phase: 'Pending' });
  });
});

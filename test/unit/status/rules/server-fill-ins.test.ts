import { describe, expect, it } from 'vitest';
import { withServerFillIns } from '../../../../src/status/rules/server-fill-ins.ts';
import { PodStore } from '../../../../src/testing.ts';
import { Harness, testPod } from '../status-harness.ts';

describe('withServerFillIns', () => {
  it('gives a condition the observedGeneration that the server keeps for it', () => {
    const server = { conditions: [{ type: 'Ready', status: 'True', observedGeneration: 3 }] };
    const status = { conditions: [{ type: 'Ready', status: 'False' }] };
    expect(withServerFillIns(status, server).conditions).toEqual([{ type: 'Ready', status: 'False', observedGeneration: 3 }]);
    expect(status.conditions[0]).not.toHaveProperty('observedGeneration');
  });

  it('does not change a condition that has an observedGeneration, or that the server does not have', () => {
    const server = { conditions: [{ type: 'Ready', status: 'True', observedGeneration: 3 }] };
    const status = {
      conditions: [
        { type: 'Ready', status: 'True', observedGeneration: 4 },
        { type: 'Initialized', status: 'True' },
      ],
    };
    expect(withServerFillIns(status, server)).toBe(status);
  });

  it.each([
    ['the qosClass, where there is none', {}, { qosClass: 'Burstable' }, { qosClass: 'Burstable' }],
    ['no qosClass over another', { qosClass: 'Guaranteed' }, { qosClass: 'Burstable' }, { qosClass: 'Guaranteed' }],
    ['the observedGeneration, where there is none', {}, { observedGeneration: 3 }, { observedGeneration: 3 }],
    ['no observedGeneration over another', { observedGeneration: 2 }, { observedGeneration: 3 }, { observedGeneration: 2 }],
    [
      'the podIPs of the same single podIP',
      { podIP: '10.0.0.1' },
      { podIPs: [{ ip: '10.0.0.1' }] },
      { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] },
    ],
    ['no podIPs of another podIP', { podIP: '10.0.0.1' }, { podIPs: [{ ip: '10.0.0.2' }] }, { podIP: '10.0.0.1' }],
    ['no podIPs with two addresses', { podIP: 'a' }, { podIPs: [{ ip: 'a' }, { ip: 'b' }] }, { podIP: 'a' }],
    ['no empty podIPs', { podIP: 'a' }, { podIPs: [] }, { podIP: 'a' }],
    ['no podIPs without a podIP', {}, { podIPs: [{ ip: '10.0.0.1' }] }, {}],
    [
      'no podIPs over others',
      { podIP: 'a', podIPs: [{ ip: 'b' }] },
      { podIPs: [{ ip: 'a' }] },
      { podIP: 'a', podIPs: [{ ip: 'b' }] },
    ],
  ])('gives %s', (_, status, server, expected) => {
    expect(withServerFillIns(status, server)).toEqual(expected);
  });

  it('does not change the other conditions', () => {
    const server = { conditions: [{ type: 'Ready', status: 'True', observedGeneration: 3 }] };
    const [other, last] = [
      { type: 'Initialized', status: 'True' },
      { type: 'PodScheduled', status: 'True' },
    ];
    const conditions = [other, { type: 'Ready', status: 'False' }, last] as never;
    const filled = withServerFillIns({ conditions }, server).conditions;
    expect(filled).toEqual([other, { type: 'Ready', status: 'False', observedGeneration: 3 }, last]);
  });
});

describe('withServerFillIns, members that Kubernetes 1.36 does not know', () => {
  const newer = { writtenBy: 'a newer server' };
  const container = (name: string, more: object = {}) => ({
    name,
    image: '',
    imageID: '',
    ready: true,
    restartCount: 0,
    ...more,
  });
  const server = {
    phase: 'Pending',
    fieldOf137: newer,
    conditions: [{ type: 'Ready', status: 'True', fieldOf137: newer }],
    containerStatuses: [container('a', { fieldOf137: newer }), container('b')],
    initContainerStatuses: [container('i', { fieldOf137: newer })],
    ephemeralContainerStatuses: [container('e', { fieldOf137: newer })],
  };
  const ours = {
    phase: 'Running',
    conditions: [
      { type: 'Initialized', status: 'True' },
      { type: 'Ready', status: 'False' },
    ],
    containerStatuses: [container('b'), container('a', { ready: false }), container('c')],
    initContainerStatuses: [container('i')],
    ephemeralContainerStatuses: [container('e')],
  };

  it('gives the server’s own, by the type of the condition and the name of the container, and no others', () => {
    const before = structuredClone({ ours, server });
    expect(withServerFillIns(ours, server)).toEqual({
      phase: 'Running',
      fieldOf137: newer,
      conditions: [
        { type: 'Initialized', status: 'True' },
        { type: 'Ready', status: 'False', fieldOf137: newer },
      ],
      containerStatuses: [container('b'), container('a', { ready: false, fieldOf137: newer }), container('c')],
      initContainerStatuses: [container('i', { fieldOf137: newer })],
      ephemeralContainerStatuses: [container('e', { fieldOf137: newer })],
    });
    expect({ ours, server }).toEqual(before);
  });

  it('gives the server’s own members of the addresses, and of states of the same kind', () => {
    const own = {
      podIPs: [{ ip: '10.0.0.2' }, { ip: '10.0.0.1' }],
      hostIPs: [{ ip: '192.0.2.1' }],
      containerStatuses: [
        container('a', { state: { running: {} }, lastState: { terminated: { exitCode: 1 } } }),
        container('b', { state: { terminated: { exitCode: 0 } }, lastState: {} }),
      ],
    };
    const theirs = {
      podIPs: [
        { ip: '10.0.0.1', newer },
        { ip: '10.0.0.9', newer },
      ],
      hostIPs: [{ ip: '192.0.2.1', newer }],
      containerStatuses: [
        container('a', {
          state: { running: { startedAt: 'known', newer }, newer },
          lastState: { terminated: { exitCode: 2, reason: 'known', newer } },
        }),
        container('b', { state: { running: { newer } }, lastState: { terminated: { newer } } }),
      ],
    };
    const before = structuredClone({ own, theirs });
    const filled = withServerFillIns(own as never, theirs as never);
    expect(filled).toEqual({
      podIPs: [{ ip: '10.0.0.2' }, { ip: '10.0.0.1', newer }],
      hostIPs: [{ ip: '192.0.2.1', newer }],
      containerStatuses: [
        container('a', { state: { running: { newer }, newer }, lastState: { terminated: { exitCode: 1, newer } } }),
        container('b', { state: { terminated: { exitCode: 0 } }, lastState: {} }),
      ],
    });
    expect({ own, theirs }).toEqual(before);
  });

  it('leaves what the agent sets, and what the server knows and the agent left out', () => {
    const set = { ...ours, fieldOf137: 'ours', containerStatuses: [container('a', { fieldOf137: false })] };
    const known = { ...server, reason: 'Evicted', resize: 'Proposed' };
    const filled = withServerFillIns(set, known);
    expect(filled).toMatchObject({ fieldOf137: 'ours', containerStatuses: [{ fieldOf137: false }] });
    expect(filled).not.toHaveProperty('reason');
    expect(filled).not.toHaveProperty('resize');
  });

  it('brings back no condition and no container that the agent left out', () => {
    expect(withServerFillIns({ conditions: [], containerStatuses: [] }, server)).toEqual({
      fieldOf137: newer,
      conditions: [],
      containerStatuses: [],
    });
  });
});

describe('StatusManager, conditions whose observedGeneration the server keeps', () => {
  it.each(['strategic', 'json'] as const)('does not patch it away at each batch (%s)', async (patchFormat) => {
    const h = new Harness({ patchFormat, client: { store: new PodStore({ validate: false }) } });
    const kept = { type: 'Ready', status: 'True', observedGeneration: 3 };
    const pod = h.publish(testPod({ spec: { containers: [] }, status: { phase: 'Running', conditions: [kept] } }));
    const status = { ...h.apiStatus(pod), conditions: [{ type: 'Ready', status: 'True' }], message: 'm' };
    expect(await h.set(pod, status)).toEqual(['patch']);
    expect(h.apiStatus(pod).conditions).toEqual([expect.objectContaining(kept)]);
    h.observe(pod);
    h.rival(pod, { message: 'theirs' });
    h.observe(pod);
    expect(await h.batch()).toEqual(['patch']);
    h.observe(pod);
    expect(await h.batch()).toEqual([]);
    h.manager.reconcile('12345678');
    expect(await h.calls()).toEqual(['get']);
  });
});

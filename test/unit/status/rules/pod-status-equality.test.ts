import { describe, expect, it } from 'vitest';
import type { PodStatus, WirePodCondition } from '../../../../src/api/json/types.ts';
import { normalizeStatus } from '../../../../src/status/canonical/normalize-status.ts';
import { isPodStatusByKubeletEqual } from '../../../../src/status/rules/pod-status-equality.ts';

function equal(a: PodStatus, b: PodStatus, owned?: ReadonlySet<string>): boolean {
  const [x, y] = [normalizeStatus({}, a), normalizeStatus({}, b)];
  const answer = isPodStatusByKubeletEqual(x, y, owned);
  expect(isPodStatusByKubeletEqual(y, x, owned)).toBe(answer);
  return answer;
}
const condition = (type: string, status: string, extra = {}): WirePodCondition => ({ type, status, ...extra });
const conditions = (...list: WirePodCondition[]): PodStatus => ({ conditions: list });
const containers = (extra: object, name = 'c'): PodStatus => ({ containerStatuses: [{ name, ...extra } as never] });

describe('isPodStatusByKubeletEqual', () => {
  it('ignores foreign conditions [T-SM-023]', () => {
    const feature = (status: string) => condition('www.example.com/feature', status);
    expect(equal(conditions(feature('True')), conditions(feature('True'), feature('False')))).toBe(true);
    expect(equal({}, conditions(feature('True')))).toBe(true);
  });

  it('ignores claim statuses [T-SM-024]', () => {
    const claims = {
      resourceClaimStatuses: [{ name: 'claim' }],
      extendedResourceClaimStatus: { requestMappings: [], resourceClaimName: 'claim' },
      nodeAllocatableResourceClaimStatuses: [{ resourceClaimName: 'claim', resources: { cpu: '1' } }],
    } satisfies PodStatus;
    expect(equal(claims, {})).toBe(true);
  });

  it('compares only status, reason and message of owned and shared conditions', () => {
    for (const type of ['Ready', 'PodScheduled', 'DisruptionTarget', 'PodResizePending', 'AllContainersRestarting']) {
      const a = conditions(condition(type, 'True', { reason: 'r', message: 'm' }));
      const times = { lastTransitionTime: '2000-01-01T00:00:00Z', lastProbeTime: '2000-01-01T00:00:00Z', observedGeneration: 9 };
      expect(equal(a, conditions(condition(type, 'True', { reason: 'r', message: 'm', ...times })))).toBe(true);
      expect(equal(a, conditions(condition(type, 'False', { reason: 'r', message: 'm' })))).toBe(false);
      expect(equal(a, conditions(condition(type, 'True', { reason: 'x', message: 'm' })))).toBe(false);
      expect(equal(a, conditions(condition(type, 'True', { reason: 'r', message: 'x' })))).toBe(false);
      expect(equal(a, {})).toBe(false);
    }
  });

  it('ignores the order of conditions, and of two of one type compares the later', () => {
    const [ready, initialized] = [condition('Ready', 'True'), condition('Initialized', 'True')];
    expect(equal(conditions(ready, initialized), conditions(initialized, ready))).toBe(true);
    expect(equal(conditions(condition('Ready', 'False'), ready), conditions(ready))).toBe(true);
    expect(equal(conditions(ready, condition('Ready', 'False')), conditions(ready))).toBe(false);
  });

  it('compares the agent’s own condition types', () => {
    const own = new Set(['agent.io/x']);
    expect(equal(conditions(condition('agent.io/x', 'True')), {}, own)).toBe(false);
    expect(equal(conditions(condition('agent.io/x', 'True')), {})).toBe(true);
  });

  it.each([
    ['phase', { phase: 'Running' }],
    ['reason', { reason: 'r' }],
    ['message', { message: 'm' }],
    ['observedGeneration', { observedGeneration: 1 }],
    ['startTime', { startTime: '2000-01-01T00:00:00Z' }],
    ['podIP', { podIP: '10.0.0.1' }],
    ['podIPs', { podIPs: [{ ip: '10.0.0.1' }] }],
    ['hostIPs', { hostIPs: [{ ip: '10.0.0.1' }] }],
    ['qosClass', { qosClass: 'Burstable' }],
    ['nominatedNodeName', { nominatedNodeName: 'n' }],
    ['resources', { resources: { limits: { cpu: '1' } } }],
    ['resize', { resize: 'Deferred' }],
    ['containerStatuses', containers({})],
    ['ephemeralContainerStatuses', { ephemeralContainerStatuses: containers({}).containerStatuses } as PodStatus],
  ])('sees a difference in %s', (_field, status) => {
    expect(equal(status, {})).toBe(false);
    expect(equal(status, structuredClone(status))).toBe(true);
  });

  it.each([
    ['ready', { ready: true }],
    ['started', { started: false }],
    ['restartCount', { restartCount: 1 }],
    ['the state', { state: { running: {} } }],
    ['the last state', { lastState: { terminated: { exitCode: 1 } } }],
    ['a time of the state', { state: { running: { startedAt: '2000-01-01T00:00:00Z' } } }],
    ['resources', { resources: { limits: { cpu: '1' } } }],
    ['a volume mount', { volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
  ])('sees a difference in %s of a container', (_field, extra) => {
    expect(equal(containers(extra), containers({}))).toBe(false);
    expect(equal(containers(extra), containers(structuredClone(extra)))).toBe(true);
  });

  it('sees a member that Kubernetes 1.36 does not know, unless only known members are compared', () => {
    const unknown = (value: object): [PodStatus, PodStatus][] =>
      [
        [value, {}],
        [conditions(condition('Ready', 'True', value)), conditions(condition('Ready', 'True'))],
        [containers(value), containers({})],
      ] as [PodStatus, PodStatus][];
    for (const [a, b] of unknown({ fieldOf137: { x: [1] } })) {
      expect(equal(a, b)).toBe(false);
      expect(equal(a, structuredClone(a))).toBe(true);
      const [x, y] = [normalizeStatus({}, a), normalizeStatus({}, b)];
      expect(isPodStatusByKubeletEqual(x, y, undefined, 'known')).toBe(true);
      expect(isPodStatusByKubeletEqual(y, x, undefined, 'known')).toBe(true);
    }
  });

  it('counts absent and empty as equal, and compares quantities by value', () => {
    expect(equal({ conditions: [], podIPs: [], phase: '', containerStatuses: [] }, {})).toBe(true);
    expect(
      equal(containers({ resources: { limits: { cpu: '1000m' } } }), containers({ resources: { limits: { cpu: '1' } } })),
    ).toBe(true);
    expect(equal({ startTime: '2000-01-01T01:00:00+01:00' }, { startTime: new Date('2000-01-01T00:00:00.5Z') })).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { carryOverContainerStatuses, type Pod, type PodStatus, type WirePod } from '../../../../src/index.ts';
import { buildContainerStatus, buildPod } from '../../../../src/testing.ts';
import { Harness } from '../status-harness.ts';

const running = { running: { startedAt: '2000-01-01T00:00:00Z' } };
const app = (over: object = {}) => buildContainerStatus({ name: 'app', containerID: 'test://1', state: running, ...over });

function podWith(containers: PodStatus['containerStatuses'], conditions: PodStatus['conditions'] = []): Pod {
  const pod = buildPod({ spec: { nodeName: 'n', containers: [{ name: 'app', image: 'i' }] } });
  return { ...pod, status: { phase: 'Running', conditions, containerStatuses: containers } };
}

const firstStatus = (over: object = {}): PodStatus => ({
  phase: 'Running',
  conditions: [
    { type: 'ContainersReady', status: 'False' },
    { type: 'Ready', status: 'False' },
  ],
  containerStatuses: [app({ ready: false, started: undefined, restartCount: 0, ...over })],
});

describe('carryOverContainerStatuses', () => {
  it('keeps ready, started and the restart count of a container that still runs', () => {
    const pod = podWith([app({ ready: true, started: true, restartCount: 3 })]);
    const status = carryOverContainerStatuses(pod, firstStatus());
    expect(status.containerStatuses).toMatchObject([{ ready: true, started: true, restartCount: 3 }]);
    expect(status.conditions?.map(({ type, status: is }) => [type, is])).toEqual([
      ['ContainersReady', 'True'],
      ['Ready', 'True'],
    ]);
  });

  it('takes over only the restart count from another container of the same name', () => {
    const pod = podWith([app({ ready: true, started: true, restartCount: 3, containerID: 'test://0' })]);
    const status = carryOverContainerStatuses(pod, firstStatus());
    expect(status.containerStatuses).toMatchObject([{ ready: false, restartCount: 3 }]);
    expect(status.containerStatuses?.[0]).not.toHaveProperty('started');
  });

  it('takes over no readiness from a container that had ended', () => {
    const pod = podWith([app({ ready: true, state: { terminated: { exitCode: 1 } } })]);
    expect(carryOverContainerStatuses(pod, firstStatus()).containerStatuses).toMatchObject([{ ready: false }]);
  });

  it('lets a newer count stand', () => {
    const pod = podWith([app({ ready: true, started: true, restartCount: 3 })]);
    const status = carryOverContainerStatuses(pod, firstStatus({ restartCount: 5 }));
    expect(status.containerStatuses).toMatchObject([{ restartCount: 5 }]);
  });

  const exec = { exec: { command: ['true'] } };
  describe.each([
    ['no probe', {}],
    ['a readiness probe', { readinessProbe: exec }],
    ['a startup probe', { startupProbe: exec }],
  ])('with %s', (_, probes) => {
    const carried = (before: object, now: object) => {
      const pod = podWith([app(before)]);
      const spec = { nodeName: 'n', containers: [{ name: 'app', image: 'i', ...probes }] };
      return carryOverContainerStatuses({ ...pod, spec }, firstStatus(now)).containerStatuses?.[0];
    };

    it('keeps a container started, whatever an agent says that has just restarted', () => {
      expect(carried({ started: true }, { started: false })?.started).toBe(true);
      expect(carried({ started: true }, {})?.started).toBe(true);
    });

    it('believes the agent that a container has started meanwhile', () => {
      expect(carried({ started: false }, { started: true })?.started).toBe(true);
    });

    it('starts no container that was still starting, and invents nothing', () => {
      expect(carried({ started: false }, { started: false })?.started).toBe(false);
      expect(carried({ started: false }, {})?.started).toBe(false);
      expect(carried({ started: undefined }, { started: false })?.started).toBe(false);
      expect(carried({ started: undefined }, {})).not.toHaveProperty('started');
    });
  });

  it('takes back no start from another container, nor from one that had ended', () => {
    for (const before of [{ containerID: 'test://0' }, { state: { terminated: { exitCode: 1 } } }]) {
      const pod = podWith([app({ ready: true, started: true, ...before })]);
      expect(carryOverContainerStatuses(pod, firstStatus({ started: false })).containerStatuses?.[0]?.started).toBe(false);
    }
  });

  it('leaves a probe the last word', () => {
    const h = new Harness({ started: false });
    const pod = podWith([app({ ready: true, started: true })]);
    h.podManager.addPod(pod as WirePod);
    h.manager.setPodStatus(pod, carryOverContainerStatuses(pod, firstStatus({ started: false })));
    const container = () => h.manager.getPodStatus(String(pod.metadata?.uid))?.containerStatuses?.[0];
    expect(container()).toMatchObject({ ready: true, started: true });
    h.manager.setContainerReadiness(String(pod.metadata?.uid), 'test://1', false);
    h.manager.setContainerStartup(String(pod.metadata?.uid), 'test://1', false);
    expect(container()).toMatchObject({ ready: false, started: false });
  });

  it('reads readiness gates from the API copy', () => {
    const gate = { type: 'example.com/gate', status: 'False' };
    const pod = podWith([app({ ready: true })], [gate]);
    const gated: Pod = { ...pod, spec: { containers: [{ name: 'app' }], readinessGates: [{ conditionType: gate.type }] } };
    const status = carryOverContainerStatuses(gated, firstStatus());
    expect(status.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      reason: 'ReadinessGatesNotReady',
    });
  });

  it('changes neither input and adds no condition the status does not have', () => {
    const pod = podWith([app({ ready: true })]);
    const status = { ...firstStatus(), conditions: [] };
    const before = structuredClone([pod, status]);
    expect(carryOverContainerStatuses(pod, status).conditions).toBeUndefined();
    expect([pod, status]).toEqual(before);
  });
});

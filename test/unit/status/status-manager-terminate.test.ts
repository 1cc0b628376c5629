import { describe, expect, it } from 'vitest';
import type { WireContainerStatus, WirePod, WirePodStatus } from '../../../src/api/json/types.ts';
import { Harness, testPod } from './status-harness.ts';

const unknown = {
  terminated: {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was terminated',
  },
};

/** W waiting, R running, Tn terminated with code n, - no state, +Ln lastState terminated with code n, U ended as unknown. */
function container(name: string, notation: string): WireContainerStatus {
  const [now = '', last] = notation.split('+L');
  const states: Record<string, object> = { W: { waiting: { reason: 'w' } }, R: { running: {} }, U: unknown };
  const terminated = (code: string): object => ({ terminated: { exitCode: Number(code) } });
  const state = now.startsWith('T') ? terminated(now.slice(1)) : (states[now] ?? {});
  return { name, image: '', imageID: '', ready: false, restartCount: 0, state, lastState: last ? terminated(last) : {} };
}

const list = (prefix: string, notations: string): WireContainerStatus[] =>
  notations.split(' ').map((notation, i) => container(`${prefix}${i}`, notation));

function statusOf(phase: string | undefined, init = '', regular = ''): WirePodStatus {
  return {
    ...(phase !== undefined && { phase }),
    ...(init !== '' && { initContainerStatuses: list('init-', init) }),
    ...(regular !== '' && { containerStatuses: list('', regular) }),
  };
}

function podOf(status: WirePodStatus, metadata = {}): WirePod {
  const spec = {
    restartPolicy: 'Never',
    containers: (status.containerStatuses ?? []).map(({ name }) => ({ name })),
    initContainers: (status.initContainerStatuses ?? []).map(({ name }) => ({ name })),
  };
  return testPod({ metadata, spec, status });
}

/** The cached status after setPodStatus and then terminatePod, which may get a stale pod. */
function terminated(cached: WirePodStatus | undefined, pod: WirePod, stale = pod): unknown {
  const { manager } = new Harness({ started: false });
  if (cached !== undefined) manager.setPodStatus(pod, cached);
  expect(manager.terminatePod(stale)).toBe(true);
  const { startTime, ...rest } = manager.getPodStatus('12345678') ?? {};
  expect(startTime).toBeDefined();
  return rest;
}

describe('StatusManager.terminatePod', () => {
  it('ends running containers, keeps ended ones, and keeps phase and message of the cached status [T-SM-033]', () => {
    const cached = { ...statusOf('Failed', '- T0 T3', '- T2 T0'), message: 'kept' };
    const stale = podOf(statusOf('Running', 'T0 T0 T0', '- - -'));
    expect(terminated(cached, podOf(cached), stale)).toEqual({ ...statusOf('Failed', 'U T0 T3', 'U T2 T0'), message: 'kept' });
  });

  it('leaves init containers that never began Waiting [T-SM-034]', () => {
    const cached = { ...statusOf('Failed', '- T0 W', '- T2 W'), message: 'kept' };
    const stale = podOf({ ...statusOf('Running', 'T0 T0 W', 'R R R') });
    expect(terminated(cached, podOf(cached), stale)).toEqual({ ...statusOf('Failed', 'U T0 W', 'U T2 U'), message: 'kept' });
  });

  it.each([
    ['invents no status', 'T-SM-035', 'Failed', '', '', '', ''],
    ['invents no status in a running pod, and makes it Failed', 'T-SM-036', 'Running', '', '', '', ''],
    ['makes a running pod with an ended container Failed', 'T-SM-037', 'Running', '', 'T2', '', 'T2'],
    ['keeps the last termination', 'T-SM-038', 'Running', '', 'W+L2', '', 'U+L2'],
    ['ends a container without a previous state as unknown', 'T-SM-039', 'Running', '', 'W', '', 'U'],
    ['ends the first init container of an uninitialised pod as unknown', 'T-SM-040', 'Pending', 'W', 'W', 'U', 'W'],
    ['ends only the first init container', 'T-SM-041', 'Pending', 'W W', 'W', 'U W', 'W'],
    ['ends the init containers before one that ran', 'T-SM-042', 'Pending', 'W W T1 W', 'W', 'U U T1 W', 'W'],
    ['takes a failed last init container as not initialised', 'T-SM-043', 'Pending', 'W W T1', 'W', 'U U T1', 'W'],
    ['takes a successful last init container as initialised', 'T-SM-044', 'Running', 'W W T0', 'W', 'U U T0', 'U'],
    ['takes an earlier success of the last one as initialised', 'T-SM-045', 'Running', 'W W W+L0', 'W', 'U U U+L0', 'U'],
    ['takes a running container as a sign of initialisation', 'T-SM-046', 'Running', 'W', 'R', 'U', 'U'],
    ['takes an ended container as a sign of initialisation', 'T-SM-047', 'Running', 'W', 'T0', 'U', 'T0'],
    ['takes an earlier end of a container as a sign of initialisation', 'T-SM-048', 'Running', 'W', '-+L0', 'U', 'U+L0'],
  ])('%s [%s]', (_behaviour, _id, phase, init, regular, initAfter, regularAfter) => {
    const status = statusOf(phase, init, regular);
    expect(terminated(status, podOf(status))).toEqual(statusOf('Failed', initAfter, regularAfter));
  });

  it.each([
    ['Pending', 'Failed', 'T-SM-049'],
    ['Running', 'Failed', 'T-SM-050'],
    ['Succeeded', 'Succeeded', 'T-SM-051'],
    ['Failed', 'Failed', 'T-SM-052'],
    ['Unknown', 'Failed', 'T-SM-053'],
  ])('turns phase %s into %s at the end [%s]', (phase, after) => {
    expect(terminated(undefined, podOf({ phase }))).toEqual({ phase: after });
    expect(terminated({ phase }, podOf({ phase }))).toEqual({ phase: after });
  });

  it('makes an unknown phase of the API copy Failed at the end [T-SM-054]', () => {
    expect(terminated(undefined, podOf({ phase: 'SomeUnknownPhase' }))).toEqual({ phase: 'Failed' });
  });

  it('makes a new version each time, and keeps conditions, reason and observed generation', () => {
    const { manager } = new Harness({ started: false });
    const pod = podOf({}, { generation: 4 });
    manager.setPodStatus(pod, { phase: 'Running', reason: 'R', conditions: [{ type: 'Ready', status: 'True' }] });
    const before = manager.getPodStatus('12345678');
    expect(manager.terminatePod(podOf({}, { generation: 9 }))).toBe(true);
    expect(manager.getPodStatus('12345678')).toEqual({ ...before, phase: 'Failed' });
    expect(manager.terminatePod(pod)).toBe(true);
    expect(manager.explain('12345678').version).toBe(3);
  });

  it('obeys the transition rules, as upstream does', () => {
    const { manager } = new Harness({ started: false });
    const pod = podOf(statusOf('Running', 'W W', 'R'));
    const outOfOrder = { ...pod, spec: { ...pod.spec, containers: [], initContainers: [{ name: 'other' }] } };
    manager.setPodStatus(testPod({ spec: { containers: [], restartPolicy: 'Always' } }), statusOf('Running', 'W W', 'R'));
    expect(manager.terminatePod(outOfOrder)).toBe(false);
    expect(manager.getPodStatus('12345678')?.phase).toBe('Running');
  });

  it('finishes an ordinary pod for good, whatever status is set later', () => {
    const h = new Harness({ started: false });
    const removed = h.record('podRemoved');
    const updated = h.record('podUpdated');
    h.manager.terminatePod(testPod());
    expect(h.manager.setPodStatus(testPod(), { phase: 'Failed', message: 'late' })).toBe(true);
    expect(removed).toHaveLength(2);
    expect(updated).toHaveLength(0);
  });
});

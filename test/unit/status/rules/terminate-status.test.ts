import { describe, expect, it } from 'vitest';
import type { WireContainerStatus, WirePod, WirePodStatus } from '../../../../src/api/json/types.ts';
import { terminatedStatus } from '../../../../src/status/rules/terminate-status.ts';
import { barePod } from '../../../support/pods.ts';

const unknownState = {
  terminated: {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was terminated',
  },
};

/** W waiting, R running, Tn terminated with code n, - no state, +Ln lastState terminated with code n, U ended as unknown. */
function status(name: string, notation: string): WireContainerStatus {
  const [now = '', last] = notation.split('+L');
  const states: Record<string, WireContainerStatus['state']> = { W: { waiting: {} }, R: { running: {} }, U: unknownState };
  const state = now.startsWith('T') ? { terminated: { exitCode: Number(now.slice(1)) } } : states[now];
  return {
    name,
    image: '',
    imageID: '',
    ready: false,
    restartCount: 0,
    ...(state && { state }),
    ...(last && { lastState: { terminated: { exitCode: Number(last) } } }),
  };
}

const list = (prefix: string, notations: string): WireContainerStatus[] =>
  notations === '' ? [] : notations.split(' ').map((notation, i) => status(`${prefix}${i}`, notation));

function statusOf(phase: string | undefined, init: string, regular: string): WirePodStatus {
  return {
    ...(phase !== undefined && { phase }),
    ...(init !== '' && { initContainerStatuses: list('init-', init) }),
    ...(regular !== '' && { containerStatuses: list('', regular) }),
  };
}

function podOf(status: WirePodStatus, { sidecar = false, isStatic = false } = {}): WirePod {
  const annotations = { 'kubernetes.io/config.source': 'file' };
  const sort = sidecar ? { restartPolicy: 'Always' } : {};
  const containers = (status.containerStatuses ?? []).map(({ name }) => ({ name }));
  const initContainers = (status.initContainerStatuses ?? []).map(({ name }) => ({ name, ...sort }));
  const spec = { restartPolicy: 'Never', containers, initContainers };
  return barePod({ metadata: { name: 'foo', ...(isStatic && { annotations }) }, spec, status });
}

describe('terminatedStatus: containers', () => {
  type Row = [
    id: string,
    behaviour: string,
    phase: string,
    init: string,
    regular: string,
    initAfter: string,
    regularAfter: string,
  ];
  const rows: Row[] = [
    ['T-SM-035', 'invents no statuses', 'Failed', '', '', '', ''],
    ['T-SM-036', 'invents no statuses in a running pod', 'Running', '', '', '', ''],
    ['T-SM-037', 'keeps a terminated container', 'Running', '', 'T2', '', 'T2'],
    ['T-SM-038', 'keeps lastState', 'Running', '', 'W+L2', '', 'U+L2'],
    ['T-SM-039', 'ends a waiting container as unknown', 'Running', '', 'W', '', 'U'],
    ['T-SM-040', 'ends the first init container of an uninitialised pod as unknown', 'Pending', 'W', 'W', 'U', 'W'],
    ['T-SM-041', 'ends only the first init container', 'Pending', 'W W', 'W', 'U W', 'W'],
    ['T-SM-042', 'ends the init containers before one that ran', 'Pending', 'W W T1 W', 'W', 'U U T1 W', 'W'],
    ['T-SM-043', 'a failed last init container means not initialised', 'Pending', 'W W T1', 'W', 'U U T1', 'W'],
    ['T-SM-044', 'a successful last init container means initialised', 'Running', 'W W T0', 'W', 'U U T0', 'U'],
    ['T-SM-045', 'a last init container that succeeded before means initialised', 'Running', 'W W W+L0', 'W', 'U U U+L0', 'U'],
    ['T-SM-046', 'a running container means initialised', 'Running', 'W', 'R', 'U', 'U'],
    ['T-SM-047', 'a terminated container means initialised', 'Running', 'W', 'T0', 'U', 'T0'],
    ['T-SM-048', 'a container that terminated before means initialised', 'Running', 'W', '-+L0', 'U', 'U+L0'],
    ['no state', 'an empty state is not Waiting', 'Running', 'W', '-', 'U', 'U'],
    ['running init', 'a running init container means not initialised', 'Pending', 'T0 R W', 'W', 'T0 U W', 'W'],
  ];
  it.each(rows)('[%s] %s', (_id, _behaviour, phase, init, regular, initAfter, regularAfter) => {
    const base = statusOf(phase, init, regular);
    expect(terminatedStatus(podOf(base), base).status).toStrictEqual(statusOf('Failed', initAfter, regularAfter));
  });

  it('rewrites the base status, and reads from the pod, even a stale one, what has run [T-SM-033]', () => {
    const base = { ...statusOf('Failed', '- T0 T3', '- T2 T0'), message: 'kept', reason: 'Kept' };
    const stale = statusOf('Running', 'T0 T0 T0', 'R R R');
    expect(terminatedStatus(podOf(stale), base).status).toStrictEqual({ ...base, ...statusOf('Failed', 'U T0 T3', 'U T2 T0') });
  });

  it('leaves init containers that never began Waiting in the base status [T-SM-034]', () => {
    const base = statusOf('Failed', '- T0 W', '- T2 W');
    const stale = statusOf('Running', 'T0 T0 T0', 'R R R');
    expect(terminatedStatus(podOf(stale), base).status).toStrictEqual(statusOf('Failed', 'U T0 W', 'U T2 U'));
  });

  it('keeps the containers of the base status when the given pod shows that none has run', () => {
    const base = statusOf('Running', 'T0', 'R');
    expect(terminatedStatus(podOf(statusOf('Pending', 'W', 'W')), base).status).toStrictEqual(statusOf('Failed', 'T0', 'R'));
  });

  it.each([
    ['started', true, 'U'],
    ['running but not started', false, 'W'],
  ])('a last sidecar means initialised only when it runs and has started: %s', (_behaviour, started, regularAfter) => {
    const base = statusOf('Pending', 'R', 'W');
    const [sidecar] = list('init-', 'R');
    const pod = podOf({ ...base, initContainerStatuses: sidecar ? [{ ...sidecar, started }] : [] }, { sidecar: true });
    expect(terminatedStatus(pod, base).status).toStrictEqual(statusOf('Failed', 'U', regularAfter));
  });

  it('ignores a last init status that is not of the spec’s last init container', () => {
    const base = statusOf('Pending', 'T0', 'W');
    const pod = podOf(base);
    const other: WirePod = {
      ...pod,
      spec: { containers: [{ name: '0' }], initContainers: [{ name: 'other' }, { name: 'init-0' }] },
    };
    expect(terminatedStatus(other, base).status.containerStatuses).toEqual(base.containerStatuses);
    expect(terminatedStatus(pod, base).status.containerStatuses).toEqual(list('', 'U'));
  });

  it('never rewrites ephemeral containers', () => {
    const base: WirePodStatus = { phase: 'Failed', ephemeralContainerStatuses: list('', 'R') };
    expect(terminatedStatus(podOf(base), base).status).toStrictEqual(base);
  });

  it('changes neither input', () => {
    const base = statusOf('Running', 'W W', 'R W');
    const pod = podOf(base);
    const before = structuredClone({ base, pod });
    terminatedStatus(pod, base);
    expect({ base, pod }).toStrictEqual(before);
  });
});

describe('terminatedStatus: phase', () => {
  it.each([
    ['T-SM-049', 'Pending', 'Failed'],
    ['T-SM-050', 'Running', 'Failed'],
    ['T-SM-051', 'Succeeded', 'Succeeded'],
    ['T-SM-052', 'Failed', 'Failed'],
    ['T-SM-053', 'Unknown', 'Failed'],
    ['T-SM-054', 'SomeUnknownPhase', 'Failed'],
  ])('is terminal at the end, and the old phase is returned too [%s] %s -> %s', (_id, phase, after) => {
    expect(terminatedStatus({}, { phase })).toStrictEqual({
      status: { phase: after },
      ...(phase !== after && { forcedPhaseFrom: phase }),
    });
  });

  it('is Failed for a status without one', () => {
    expect(terminatedStatus({}, {})).toStrictEqual({ status: { phase: 'Failed' }, forcedPhaseFrom: '' });
  });

  it.each(['Pending', 'Running', 'Succeeded'])('stays %s for a static pod', (phase) => {
    const base = statusOf(phase, '', 'R');
    expect(terminatedStatus(podOf(base, { isStatic: true }), base)).toStrictEqual({ status: statusOf(phase, '', 'U') });
  });
});

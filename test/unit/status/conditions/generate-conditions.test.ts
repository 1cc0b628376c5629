import { describe, expect, it } from 'vitest';
import type { Pod, PodStatus } from '../../../../src/api/json/types.ts';
import {
  allContainerStatuses,
  generateContainersReadyCondition,
  generatePodInitializedCondition,
  generatePodReadyCondition,
  generatePodScheduledCondition,
  generateTerminalConditions,
} from '../../../../src/status/conditions/generate-conditions.ts';
import { barePod } from '../../../support/pods.ts';

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];
type Spec = NonNullable<Pod['spec']>;

interface Parts {
  init?: string[];
  sidecars?: string[];
  regular?: string[];
  gates?: string[];
  generation?: number;
}

function pod({ init = [], sidecars = [], regular = [], gates = [], generation }: Parts): Pod {
  const spec: Spec = {
    initContainers: [...init.map((name) => ({ name })), ...sidecars.map((name) => ({ name, restartPolicy: 'Always' }))],
    containers: regular.map((name) => ({ name })),
    readinessGates: gates.map((conditionType) => ({ conditionType })),
  };
  return barePod({ metadata: { name: 'a', ...(generation !== undefined && { generation }) }, spec });
}

function status(name: string, more: Partial<ContainerStatus> = {}): ContainerStatus {
  return { name, image: '', imageID: '', restartCount: 0, ready: false, ...more };
}
const ready = (name: string) => status(name, { ready: true });

const unknown = (names: string) => `containers with unknown status: [${names}]`;
const unready = (names: string) => `containers with unready status: [${names}]`;

type Expected = [status: string, reason?: string, message?: string];
const expected = (type: string, [conditionStatus, reason, message]: Expected) => ({
  type,
  status: conditionStatus,
  ...(reason && { reason }),
  ...(message && { message }),
});

type ReadyRow = [
  id: string,
  behaviour: string,
  parts: Parts,
  statuses: ContainerStatus[] | undefined,
  phase: string,
  is: Expected,
];

const notReady = 'ContainersNotReady';
const pair = { regular: ['1234', '5678'] };

const containersReadyRows: ReadyRow[] = [
  ['T-GEN-01', 'knows nothing while the list is null', {}, undefined, 'Running', ['False', 'UnknownContainerStatuses']],
  ['T-GEN-02', 'is true without containers', {}, [], 'Running', ['True']],
  ['T-GEN-03', 'names a container without a status', { regular: ['1234'] }, [], 'Running', ['False', notReady, unknown('1234')]],
  ['T-GEN-04', 'is true when all are ready', pair, [ready('1234'), ready('5678')], 'Running', ['True']],
  ['T-GEN-05', 'names the one without a status', pair, [ready('1234')], 'Running', ['False', notReady, unknown('5678')]],
  ['T-GEN-06', 'names the unready', pair, [ready('1234'), status('5678')], 'Running', ['False', notReady, unready('5678')]],
  ['T-GEN-07', 'is completed once succeeded', { regular: ['1234'] }, [status('1234')], 'Succeeded', ['False', 'PodCompleted']],
];

describe('generateContainersReadyCondition', () => {
  const sidecars = ['restartable-init-1', 'restartable-init-2'];
  const regular = ['regular-1'];
  const rows: ReadyRow[] = [
    ...containersReadyRows,
    [
      'T-GEN-08',
      'wants a status of a sidecar',
      { sidecars: sidecars.slice(0, 1), regular },
      [ready('regular-1')],
      'Running',
      ['False', notReady, unknown('restartable-init-1')],
    ],
    [
      'T-GEN-09',
      'is true when sidecars are ready too',
      { sidecars, regular },
      [...sidecars, ...regular].map(ready),
      'Running',
      ['True'],
    ],
    [
      'T-GEN-10',
      'names the sidecar without a status',
      { sidecars, regular },
      ['restartable-init-1', 'regular-1'].map(ready),
      'Running',
      ['False', notReady, unknown('restartable-init-2')],
    ],
    [
      'T-GEN-11',
      'names the unready sidecar',
      { sidecars, regular },
      [ready('restartable-init-1'), status('restartable-init-2'), ready('regular-1')],
      'Running',
      ['False', notReady, unready('restartable-init-2')],
    ],
  ];
  it.each(rows)('[%s] %s', (_id, _behaviour, parts, statuses, phase, is) => {
    expect(generateContainersReadyCondition(pod(parts), undefined, statuses, phase)).toStrictEqual(
      expected('ContainersReady', is),
    );
  });

  it('puts the unknown before the unready, names in the order of the spec, sidecars first', () => {
    const subject = pod({ init: ['i'], sidecars: ['s1', 's2'], regular: ['r1', 'r2', 'r3'] });
    const statuses = [status('r3'), status('s2'), status('r1')];
    expect(generateContainersReadyCondition(subject, undefined, statuses, 'Running').message).toBe(
      `${unknown('s1 r2')}, ${unready('s2 r1 r3')}`,
    );
  });

  it('does not call a succeeded pod completed while a container has no status', () => {
    expect(generateContainersReadyCondition(pod(pair), undefined, [ready('1234')], 'Succeeded')).toStrictEqual(
      expected('ContainersReady', ['False', notReady, unknown('5678')]),
    );
  });

  it('is false in a failed pod, whatever its containers say', () => {
    expect(generateContainersReadyCondition(pod(pair), undefined, [ready('1234'), ready('5678')], 'Failed')).toStrictEqual(
      expected('ContainersReady', ['False', 'PodFailed']),
    );
  });

  it('takes the first status of a name', () => {
    const statuses = [ready('1234'), status('1234')];
    expect(generateContainersReadyCondition(pod({ regular: ['1234'] }), undefined, statuses, 'Running').status).toBe('True');
  });

  it('carries the generation only where an old status and a generation are given', () => {
    const of = (generation: number | undefined, old: PodStatus | undefined) =>
      generateContainersReadyCondition(pod(generation === undefined ? {} : { generation }), old, [], 'Running');
    expect(of(7, {})).toStrictEqual({ type: 'ContainersReady', status: 'True', observedGeneration: 7 });
    for (const condition of [of(7, undefined), of(undefined, {}), of(0, {})])
      expect(condition).not.toHaveProperty('observedGeneration');
  });
});

describe('generatePodReadyCondition', () => {
  const ids = ['T-GEN-12', 'T-GEN-13', 'T-GEN-14', 'T-GEN-15', 'T-GEN-16', 'T-GEN-17', 'T-GEN-18'];
  const same: ReadyRow[] = containersReadyRows.map(([, ...row], i) => [ids[i] ?? '', ...row]);
  it.each(same)('[%s] follows the containers: %s', (_id, _behaviour, parts, statuses, phase, is) => {
    expect(generatePodReadyCondition(pod(parts), undefined, [], statuses, phase)).toStrictEqual(expected('Ready', is));
  });

  const gatesNotReady = 'ReadinessGatesNotReady';
  const missing = (gate: string) => `corresponding condition of pod readiness gate "${gate}" does not exist.`;
  const notTrue = (gate: string) => `the status of pod readiness gate "${gate}" is not "True", but False`;
  type GateRow = [id: string, gates: string[], conditions: Record<string, string>, is: Expected];
  const gateRows: GateRow[] = [
    ['T-GEN-19', ['gate1'], {}, ['False', gatesNotReady, missing('gate1')]],
    ['T-GEN-20', ['gate1'], { gate1: 'False' }, ['False', gatesNotReady, notTrue('gate1')]],
    ['T-GEN-21', ['gate1'], { gate1: 'True' }, ['True']],
    ['T-GEN-22', ['gate1', 'gate2'], { gate1: 'True' }, ['False', gatesNotReady, missing('gate2')]],
    ['T-GEN-23', ['gate1', 'gate2'], { gate1: 'True', gate2: 'False' }, ['False', gatesNotReady, notTrue('gate2')]],
    ['T-GEN-24', ['gate1', 'gate2'], { gate1: 'True', gate2: 'True' }, ['True']],
    ['both fail', ['gate1', 'gate2'], { gate1: 'False' }, ['False', gatesNotReady, `${notTrue('gate1')}, ${missing('gate2')}`]],
  ];
  it.each(gateRows)('[%s] waits for gates %j with conditions %j', (_id, gates, conditions, is) => {
    const list = Object.entries(conditions).map(([type, value]) => ({ type, status: value }));
    expect(generatePodReadyCondition(pod({ gates }), undefined, list, [], 'Running')).toStrictEqual(expected('Ready', is));
  });

  it('speaks of the containers before the gates [T-GEN-25]', () => {
    const subject = pod({ regular: ['1234'], gates: ['gate1'] });
    const conditions = [{ type: 'gate1', status: 'True' }];
    expect(generatePodReadyCondition(subject, undefined, conditions, [status('1234')], 'Running')).toStrictEqual(
      expected('Ready', ['False', notReady, unready('1234')]),
    );
  });
});

describe('generatePodInitializedCondition', () => {
  const notInitialized = 'ContainersNotInitialized';
  const incomplete = (names: string) => `containers with incomplete status: [${names}]`;
  const running = { running: {} };
  const init = ['1234', '5678'];
  const sidecar = { sidecars: ['s'], regular: ['regular'] };
  const rows: ReadyRow[] = [
    ['T-GEN-26', 'knows nothing while the list is null', { init }, undefined, 'Running', ['False', 'UnknownContainerStatuses']],
    ['T-GEN-27', 'is true without init containers', {}, [], 'Running', ['True']],
    ['without init', 'is true without init containers and without a list', {}, undefined, 'Running', ['True']],
    ['T-GEN-28', 'names one without a status', { init: ['1234'] }, [], 'Running', ['False', notInitialized, unknown('1234')]],
    ['T-GEN-29', 'is true when all are ready', { init }, init.map(ready), 'Running', ['True']],
    ['T-GEN-30', 'names the one without', { init }, [ready('1234')], 'Running', ['False', notInitialized, unknown('5678')]],
    [
      'T-GEN-31',
      'names the incomplete',
      { init },
      [ready('1234'), status('5678')],
      'Running',
      ['False', notInitialized, incomplete('5678')],
    ],
    ['T-GEN-32', 'is completed once succeeded', { init: ['1234'] }, [ready('1234')], 'Succeeded', ['True', 'PodCompleted']],
    ['succeeded', 'is completed, ready or not', { init: ['1234'] }, [status('1234')], 'Succeeded', ['True', 'PodCompleted']],
    [
      'succeeded, unknown',
      'wants a status first',
      { init },
      [ready('1234')],
      'Succeeded',
      ['False', notInitialized, unknown('5678')],
    ],
    [
      'T-GEN-33',
      'waits for a sidecar that has not started',
      sidecar,
      [status('s', { started: false, ready: true })],
      'Pending',
      ['False', notInitialized, incomplete('s')],
    ],
    ['T-GEN-34', 'is true once the sidecar has started', sidecar, [status('s', { started: true })], 'Running', ['True']],
    [
      'T-GEN-35',
      'stays true while a regular container runs',
      sidecar,
      [status('s', { started: false }), status('regular', { state: running })],
      'Running',
      ['True'],
    ],
    [
      'T-GEN-36',
      'stays true after a regular container ended',
      { init: ['i'], regular: ['regular'] },
      [status('i', { state: { waiting: {} } }), status('regular', { state: { terminated: { exitCode: 1 } } })],
      'Running',
      ['True'],
    ],
  ];
  it.each(rows)('[%s] %s', (_id, _behaviour, parts, statuses, phase, is) => {
    expect(generatePodInitializedCondition(pod(parts), undefined, statuses, phase)).toStrictEqual(expected('Initialized', is));
  });

  it('stays true while init containers run again, once it was', () => {
    const of = (value: string) =>
      generatePodInitializedCondition(
        pod({ init: ['i'] }),
        { conditions: [{ type: 'Initialized', status: value }] },
        [status('i')],
        'Running',
      ).status;
    expect(of('True')).toBe('True');
    expect(of('False')).toBe('False');
  });

  it('does not take a running init container for a regular one', () => {
    const statuses = [status('i', { state: running })];
    expect(generatePodInitializedCondition(pod({ init: ['i'] }), undefined, statuses, 'Pending').status).toBe('False');
  });
});

describe('generatePodScheduledCondition', () => {
  it('is always true', () => {
    expect(generatePodScheduledCondition(pod({ generation: 3 }), {})).toStrictEqual({
      type: 'PodScheduled',
      status: 'True',
      observedGeneration: 3,
    });
  });
});

describe('generateTerminalConditions', () => {
  it.each([
    ['Failed', 'PodFailed'],
    ['Succeeded', 'PodCompleted'],
  ])('answers %s with reason %s and no look at the containers', (phase, reason) => {
    expect(generateTerminalConditions(pod({ regular: ['a'], generation: 2 }), {}, phase)).toStrictEqual([
      { type: 'ContainersReady', status: 'False', observedGeneration: 2, reason },
      { type: 'Ready', status: 'False', observedGeneration: 2, reason },
    ]);
  });
});

describe('allContainerStatuses', () => {
  it('puts init container statuses first, and tells "none" from "not known"', () => {
    const [a, b] = [status('a'), status('b')];
    expect(allContainerStatuses({ containerStatuses: [a], initContainerStatuses: [b] })).toEqual([b, a]);
    expect(allContainerStatuses({ containerStatuses: [] })).toEqual([]);
    expect(allContainerStatuses({})).toBeUndefined();
    expect(allContainerStatuses(undefined)).toBeUndefined();
  });
});

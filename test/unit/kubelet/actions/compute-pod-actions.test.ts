import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import { actionsOf } from './actions-of.ts';

type Spec = NonNullable<WirePod['spec']>;
const one = (name: string, more: Partial<Spec['containers'][number]> = {}) => ({ name, image: `${name}:1`, ...more });
const podOf = (spec: Partial<Spec> = {}) => buildPod({ spec: { containers: [one('a'), one('b'), one('c')], ...spec } });
const nothing = { killPod: false, createSandbox: false, init: [], start: [], ephemeral: [], kill: [], reset: [] };
const allRun = [
  ['a', 'running'],
  ['b', 'running'],
  ['c', 'running'],
] as const;

describe('the sandbox', () => {
  it('is made for a new pod, and all containers start', () => {
    expect(actionsOf({ pod: podOf(), sandboxes: [] })).toEqual({
      ...nothing,
      killPod: true,
      createSandbox: true,
      attempt: 0,
      sandboxID: undefined,
      start: ['a', 'b', 'c'],
    });
  });

  it('stays while it is the only one that is ready', () => {
    expect(actionsOf({ pod: podOf(), containers: allRun, sandboxes: ['ready', 'notready'] })).toMatchObject({
      ...nothing,
      attempt: 1,
      sandboxID: 's0',
    });
  });

  it.each([
    ['is not ready', ['notready'], 1],
    ['is one of two that are ready', ['ready', 'ready'], 2],
    ['has no address', ['ready noip'], 1],
    ['is in the wrong network', ['ready host'], 1],
  ])('is made anew when the newest one %s', (_, sandboxes, attempt) => {
    const actions = actionsOf({ pod: podOf(), containers: allRun, sandboxes });
    expect(actions).toMatchObject({ killPod: true, createSandbox: true, attempt, start: ['a', 'b', 'c'] });
  });

  it('in the network of the node needs no address', () => {
    const pod = podOf({ hostNetwork: true });
    expect(actionsOf({ pod, containers: allRun, sandboxes: ['ready host'] })).toMatchObject(nothing);
  });

  it('is not made for a pod that never restarts, once it had containers', () => {
    const pod = podOf({ restartPolicy: 'Never' });
    const lost = actionsOf({ pod, containers: [['a', 'exited 0']], sandboxes: ['notready'] });
    expect(lost).toMatchObject({ killPod: true, createSandbox: false, start: [] });
    expect(actionsOf({ pod, containers: [], sandboxes: ['notready'] })).toMatchObject({ createSandbox: true });
  });

  it('is made for a pod that never restarts while none of its containers was ever started', () => {
    const pod = podOf({ restartPolicy: 'Never' });
    const of = (...containers: [string, string][]) => actionsOf({ pod, containers, sandboxes: ['notready'] });
    expect(of(['b', 'created'], ['a', 'created'])).toMatchObject({ killPod: true, createSandbox: true, start: ['a', 'b', 'c'] });
    for (const state of ['running', 'unknown', 'exited 0', 'exited 1']) {
      expect(of(['b', 'created'], ['a', state])).toMatchObject({ createSandbox: false, start: [] });
    }
  });

  it('is not made when all containers have succeeded that run once', () => {
    const pod = podOf({ restartPolicy: 'OnFailure' });
    const ended = (last: string) =>
      actionsOf({
        pod,
        containers: [
          ['a', 'exited 0'],
          ['b', 'exited 0'],
          ['c', last],
        ],
        sandboxes: ['notready'],
      });
    expect(ended('exited 0')).toMatchObject({ killPod: true, createSandbox: false, start: [] });
    expect(ended('exited 1')).toMatchObject({ killPod: true, createSandbox: true, start: ['c'] });
  });

  it('that is made anew begins with the first init container', () => {
    const pod = podOf({ initContainers: [one('x'), one('y')] });
    const actions = actionsOf({ pod, containers: allRun, sandboxes: ['notready'] });
    expect(actions).toMatchObject({ createSandbox: true, init: ['x'], start: [] });
  });
});

describe('a container', () => {
  it.each([
    ['Always', 'exited 0', ['b']],
    ['Always', 'exited 1', ['b']],
    ['OnFailure', 'exited 0', []],
    ['OnFailure', 'exited 1', ['b']],
    ['Never', 'exited 1', []],
    ['Never', 'created', ['b']],
  ])('of a pod with the policy %s that is %s', (restartPolicy, written, start) => {
    const containers = [
      ['a', 'running'],
      ['b', written],
      ['c', 'running'],
    ] as const;
    expect(actionsOf({ pod: podOf({ restartPolicy }), containers })).toMatchObject({ ...nothing, start });
  });

  it('of which nobody knows whether it runs is ended first', () => {
    const containers = [
      ['a', 'running'],
      ['b', 'unknown'],
      ['c', 'running'],
    ] as const;
    expect(actionsOf({ pod: podOf(), containers })).toMatchObject({
      start: ['b'],
      kill: ['b-1 other: Container is in "unknown" state, try killing it before restart'],
    });
  });

  it.each(['liveness', 'startup'])('that fails its %s probe is ended, and restarted if it may', (type) => {
    const probes = { [`${type} b`]: 'Failure' } as const;
    const restarted = actionsOf({ pod: podOf(), containers: allRun, probes });
    const message = `Container b failed ${type} probe`;
    expect(restarted).toMatchObject({ start: ['b'], kill: [`b-1 ${type}Probe: ${message}, will be restarted`] });
    const never = actionsOf({ pod: podOf({ restartPolicy: 'Never' }), containers: allRun, probes });
    expect(never).toMatchObject({ start: [], kill: [`b-1 ${type}Probe: ${message}`] });
  });

  it('whose own policy is Always is restarted in a pod that never restarts', () => {
    const containers = [one('a'), one('b', { restartPolicy: 'Always' }), one('c')];
    const probes = { 'liveness b': 'Failure' } as const;
    const pod = podOf({ restartPolicy: 'Never', containers });
    expect(actionsOf({ pod, containers: allRun, probes })).toMatchObject({ start: ['b'] });
  });

  it('that was made from another image is made again, also in a pod that never restarts', () => {
    const pod = podOf({ restartPolicy: 'Never' });
    expect(actionsOf({ pod, containers: allRun, hashes: { b: 'other' } })).toMatchObject({
      start: ['b'],
      kill: ['b-1 other: Container b definition changed, will be restarted'],
    });
  });

  it('whose new resources need a restart is made again', () => {
    expect(actionsOf({ pod: podOf(), containers: allRun, resizeRestarts: ['c'] })).toMatchObject({
      start: ['c'],
      kill: ['c-2 other: Container c resize requires restart'],
    });
  });

  it('is never started in a pod that is being deleted', () => {
    const pod = podOf();
    const deleted = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2000-01-01T00:00:00Z' } };
    const containers = [
      ['a', 'running'],
      ['b', 'exited 1'],
    ] as const;
    expect(actionsOf({ pod: deleted, containers })).toMatchObject({ start: [] });
  });

  it('counts by its newest record alone', () => {
    const containers = [...allRun, ['a', 'exited 1']] as const;
    expect(actionsOf({ pod: podOf(), containers })).toMatchObject(nothing);
  });
});

describe('a pod that is over', () => {
  it('is ended, with its sidecars', () => {
    const pod = podOf({ restartPolicy: 'Never', initContainers: [one('side', { restartPolicy: 'Always' })] });
    const containers = [
      ['a', 'exited 0'],
      ['b', 'exited 0'],
      ['c', 'exited 0'],
      ['side', 'running'],
    ] as const;
    expect(actionsOf({ pod, containers })).toMatchObject({ killPod: true, createSandbox: false, init: [], start: [] });
  });
});

describe('init containers', () => {
  const pod = podOf({ initContainers: [one('x'), one('y'), one('z')] });
  it.each([
    ['none of them', [], ['x'], []],
    ['the first one runs', [['x', 'running']], [], []],
    ['the first one is done', [['x', 'exited 0']], ['y'], []],
    ['the first one has failed', [['x', 'exited 1']], ['x'], []],
    ['the first one was short of memory', [['x', 'exited 0 OOMKilled']], ['x'], []],
    ['the first one was never started', [['x', 'created']], ['x'], []],
    ['only the second one is known, and done', [['y', 'exited 0']], ['z'], []],
    ['all are done', [['z', 'exited 0']], [], ['a', 'b', 'c']],
  ] as const)('%s', (_, containers, init, start) => {
    expect(actionsOf({ pod, containers })).toMatchObject({ killPod: false, init, start });
  });

  it('are over once a regular container was made, whatever the runtime has of them', () => {
    expect(actionsOf({ pod, containers: allRun })).toMatchObject(nothing);
    // one that has ended may be from before a reboot
    expect(actionsOf({ pod, containers: [['a', 'exited 0']] })).toMatchObject({ init: ['x'], start: [] });
  });

  it('that fail for good end the pod', () => {
    const never = podOf({ restartPolicy: 'Never', initContainers: [one('x')] });
    expect(actionsOf({ pod: never, containers: [['x', 'exited 1']] })).toMatchObject({ killPod: true, init: [], start: [] });
    expect(actionsOf({ pod: never, containers: [['x', 'unknown']] })).toMatchObject({ killPod: true });
  });

  it('of which nobody knows whether they run are ended first', () => {
    expect(actionsOf({ pod, containers: [['x', 'unknown']] })).toMatchObject({
      init: ['x'],
      kill: ['x-0 other: Init container is in "unknown" state, try killing it before restart'],
    });
  });
});

describe('sidecars', () => {
  const probe = { exec: { command: ['up'] } };
  const side = (name: string, more = {}) => one(name, { restartPolicy: 'Always', ...more });
  const pod = podOf({ initContainers: [side('x'), side('y')] });

  it.each([
    ['the next one starts once one runs', [['x', 'running']], ['y'], []],
    [
      'all others start once the last one runs',
      [
        ['y', 'running'],
        ['x', 'running'],
      ],
      [],
      ['a', 'b', 'c'],
    ],
    [
      'one that ended starts again, before the others',
      [
        ['y', 'exited 0'],
        ['x', 'running'],
      ],
      ['y'],
      [],
    ],
    ['one that ended starts again beside the next one', [['x', 'exited 1']], ['x'], []],
    [
      'two that ended start in their order',
      [
        ['y', 'exited 1'],
        ['x', 'exited 1'],
      ],
      ['x', 'y'],
      [],
    ],
  ] as const)('%s', (_, containers, init, start) => {
    expect(actionsOf({ pod, containers })).toMatchObject({ init, start });
  });

  it('start again beside regular containers', () => {
    const containers = [...allRun, ['x', 'exited 1']] as const;
    expect(actionsOf({ pod, containers })).toMatchObject({ ...nothing, init: ['x', 'y'] });
  });

  it('are waited for until their startup probe has succeeded', () => {
    const slow = podOf({ initContainers: [side('x', { startupProbe: probe }), side('y')] });
    const containers = [['x', 'running']] as const;
    expect(actionsOf({ pod: slow, containers })).toMatchObject(nothing);
    expect(actionsOf({ pod: slow, containers, probes: { 'startup x': 'Success' } })).toMatchObject({ init: ['y'] });
    expect(actionsOf({ pod: slow, containers, probes: { 'startup x': 'Failure' } })).toMatchObject({
      init: ['x'],
      kill: ['x-0 startupProbe: Init container x failed startup probe'],
    });
  });

  it('are ended by their liveness probe, and the next one starts all the same', () => {
    const live = podOf({ initContainers: [side('x', { livenessProbe: probe }), side('y')] });
    const probes = { 'liveness x': 'Failure' } as const;
    expect(actionsOf({ pod: live, containers: [['x', 'running']], probes })).toMatchObject({
      init: ['x', 'y'],
      kill: ['x-0 livenessProbe: Init container x failed liveness probe'],
    });
  });

  it('that were made from another image are made again', () => {
    const containers = [...allRun, ['y', 'running'], ['x', 'running']] as const;
    expect(actionsOf({ pod, containers, hashes: { x: 'other' } })).toMatchObject({
      init: ['x'],
      kill: ['x-4 other: Init container x definition changed'],
    });
  });
});

describe('ephemeral containers', () => {
  it('start once, also while init containers run', () => {
    const pod = podOf({ initContainers: [one('x')], ephemeralContainers: [one('debug'), one('trace')] });
    const containers = [
      ['x', 'running'],
      ['trace', 'exited 1'],
    ] as const;
    expect(actionsOf({ pod, containers })).toMatchObject({ ...nothing, ephemeral: ['debug'] });
  });
});

describe('a restart of all containers', () => {
  it('removes all records, those of the container that asked for it last', () => {
    const exitCodes = { operator: 'In', values: [42] };
    const rules = [{ action: 'RestartAllContainers', exitCodes }];
    const pod = podOf({
      containers: [one('a', { restartPolicy: 'Never', restartPolicyRules: rules }), one('b')],
      initContainers: [one('x')],
    });
    const containers = [
      ['a', 'exited 42'],
      ['b', 'running'],
      ['b', 'exited 1'],
      ['x', 'exited 0'],
    ] as const;
    expect(actionsOf({ pod, containers, restartsAll: true })).toMatchObject({
      ...nothing,
      reset: ['kill b-1', 'b-2', 'x-3', 'a-0'],
    });
  });
});

// After pkg/kubelet/kubelet_pods_test.go, v1.36.3: Test_generateAPIPodStatus (its conditions).

import { describe, expect, it } from 'vitest';
import type { Pod, PodStatus, WirePodCondition } from '../../../../src/api/json/types.ts';
import {
  BasicPodManager,
  generateConditions as fromTheEntryPoint,
  generateContainersReadyCondition,
  generatePodInitializedCondition,
  StatusManager,
} from '../../../../src/index.ts';
import { type GenerateConditionsOptions, generateConditions } from '../../../../src/status/conditions/generate-pod-conditions.ts';
import { type BareParts, barePod } from '../../../support/pods.ts';

const at = '2000-01-01T00:00:00Z';
const container = { name: 'a', image: '', imageID: '', ready: true, restartCount: 0 };
const runs: PodStatus = { phase: 'Running', containerStatuses: [{ ...container, state: { running: {} } }] };
const ended = (phase: string): PodStatus => ({
  phase,
  containerStatuses: [{ ...container, ready: false, state: { terminated: { exitCode: 0 } } }],
});

function podOf(spec: BareParts['spec'] = {}, conditions: NonNullable<PodStatus['conditions']> = []): Pod {
  return barePod({
    metadata: { name: 'p', generation: 2 },
    spec: { containers: [{ name: 'a' }], ...spec },
    status: { conditions },
  });
}

const brief = (conditions: readonly WirePodCondition[]) => conditions.map(({ type, status }) => `${type} ${status}`);
const own = ['PodReadyToStartContainers True', 'Initialized True', 'Ready True', 'ContainersReady True', 'PodScheduled True'];

describe('generateConditions', () => {
  it('gives the kubelet’s own conditions, without times', () => {
    const conditions = generateConditions(podOf(), {}, runs);
    expect(brief(conditions)).toEqual(own);
    for (const condition of conditions) {
      expect(condition.observedGeneration).toBe(2);
      expect(condition).not.toHaveProperty('lastTransitionTime');
    }
  });

  it('is exported for all who set statuses', () => {
    expect(fromTheEntryPoint).toBe(generateConditions);
  });

  it('speaks of no generation where there has been no status', () => {
    for (const condition of generateConditions(podOf(), undefined, runs))
      expect(condition).not.toHaveProperty('observedGeneration');
  });

  it('keeps the conditions of others, with their times, and drops former ones of the kubelet', () => {
    const conditions = [
      { type: 'Ready', status: 'Unknown', lastTransitionTime: at },
      { type: 'example.com/b', status: 'False', lastTransitionTime: new Date(at), lastProbeTime: null, message: 'm' },
      { type: 'example.com/a', status: 'True' },
    ];
    const generated = generateConditions(podOf({}, conditions), {}, runs);
    expect(generated.slice(0, 2)).toEqual([
      { type: 'example.com/b', status: 'False', lastTransitionTime: at, message: 'm' },
      { type: 'example.com/a', status: 'True' },
    ]);
    expect(brief(generated.slice(2))).toEqual(own);
  });

  it('keeps those that the status brings, in the place of the apiserver’s', () => {
    const pod = podOf({}, [{ type: 'example.com/a', status: 'False' }]);
    const conditions = [
      { type: 'example.com/a', status: 'True' },
      { type: 'Ready', status: 'Unknown' },
    ];
    expect(brief(generateConditions(pod, {}, { ...runs, conditions }))).toEqual(['example.com/a True', ...own]);
  });

  it('asks for the readiness gates among the conditions of others', () => {
    const spec = { readinessGates: [{ conditionType: 'example.com/a' }] };
    const readyOf = (pod: Pod) => generateConditions(pod, {}, runs).find(({ type }) => type === 'Ready');
    expect(readyOf(podOf(spec))).toMatchObject({ status: 'False', reason: 'ReadinessGatesNotReady' });
    expect(readyOf(podOf(spec, [{ type: 'example.com/a', status: 'True' }]))?.status).toBe('True');
  });

  it('puts the resize conditions before its own', () => {
    const resizeConditions = [{ type: 'PodResizeInProgress', status: 'True', lastTransitionTime: new Date(at) }];
    const [first] = generateConditions(podOf(), {}, runs, { resizeConditions });
    expect(first).toEqual({ type: 'PodResizeInProgress', status: 'True', lastTransitionTime: at });
  });

  it('keeps a disruption of the status before, in the place of the apiserver’s', () => {
    const pod = podOf({}, [{ type: 'DisruptionTarget', status: 'False' }]);
    const old = { conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' }] };
    expect(generateConditions(pod, old, runs)[0]).toEqual(old.conditions[0]);
    expect(generateConditions(pod, {}, runs)[0]?.status).toBe('False');
  });

  it.each<[string, PodStatus, GenerateConditionsOptions, string]>([
    ['the sandbox, where it is known', runs, { sandboxes: [] }, 'False'],
    ['a sandbox that is ready', { phase: 'Pending' }, { sandboxes: [{ ready: true }] }, 'True'],
    ['else a container that runs', runs, {}, 'True'],
    ['else one that has run', ended('Running'), {}, 'True'],
    ['else none, before the first one runs', { phase: 'Pending', containerStatuses: [container] }, {}, 'False'],
    ['else none, after the end', ended('Succeeded'), {}, 'False'],
  ])('lets PodReadyToStartContainers follow from %s', (_, status, options, expected) => {
    const conditions = generateConditions(podOf(), {}, status, options);
    expect(conditions.find(({ type }) => type === 'PodReadyToStartContainers')?.status).toBe(expected);
  });

  it('has AllContainersRestarting only for specs with such a rule', () => {
    const restartPolicyRules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }];
    const pod = podOf({ containers: [{ name: 'a', restartPolicyRules }] });
    const runtimeContainers = [{ name: 'a', state: 'exited' as const, exitCode: 42 }];
    expect(brief(generateConditions(pod, {}, runs, { runtimeContainers })).at(-1)).toBe('AllContainersRestarting True');
    expect(brief(generateConditions(pod, {}, runs)).at(-1)).toBe('AllContainersRestarting False');
  });
});

describe('generateConditions, for an agent with condition types of its own', () => {
  const gpu = { type: 'example.com/gpu', status: 'True' };
  const other = { type: 'example.com/other', status: 'True' };
  const pod = podOf({}, [gpu, other]);
  const types = (conditions: readonly WirePodCondition[]) =>
    conditions.map(({ type }) => type).filter((type) => type.includes('/'));

  it.each([
    [['example.com/gpu']],
    [new Set(['example.com/gpu'])],
  ])('drops the API copy’s where the status brings none: %j', (ownedConditionTypes) => {
    expect(types(generateConditions(pod, {}, runs, { ownedConditionTypes }))).toEqual(['example.com/other']);
    const brought = { ...runs, conditions: [{ ...gpu, status: 'False' }] };
    const conditions = generateConditions(pod, {}, brought, { ownedConditionTypes });
    expect(conditions.filter(({ type }) => type === gpu.type)).toEqual([{ ...gpu, status: 'False' }]);
  });

  it('takes the types from the status of a status manager', () => {
    const podManager = new BasicPodManager();
    const podDeletionSafety = { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false };
    const options = { podClient: null, podManager, podDeletionSafety, logger: null };
    const registered = { ...pod, metadata: { uid: 'u1', name: 'p', namespace: 'd' } };
    const ask = (ownedConditionTypes: string[], given?: { ownedConditionTypes: string[] }): string[] => {
      const manager = new StatusManager({ ...options, ownedConditionTypes });
      manager.setPodStatus(registered, { ...runs, conditions: [gpu, other] });
      const status = manager.getPodStatus('u1');
      expect(Reflect.ownKeys({ ...status })).toEqual(Object.keys(status ?? {}));
      return types(generateConditions(registered, status, runs, given));
    };
    expect(ask(['example.com/gpu'])).toEqual(['example.com/other']);
    expect(ask([])).toEqual(['example.com/gpu', 'example.com/other']);
    expect(ask(['example.com/gpu'], { ownedConditionTypes: [] })).toEqual(['example.com/gpu', 'example.com/other']);
  });
});

describe('generateConditions, what is no pod, no status or no list', () => {
  const call = generateConditions as (...args: unknown[]) => unknown;
  const pod = podOf();

  it.each<[path: string, args: unknown[]]>([
    ['pod', [undefined, {}, runs]],
    ['status', [pod, {}, undefined]],
    ['oldStatus', [pod, 'Running', runs]],
    ['status.conditions', [pod, {}, { ...runs, conditions: 'Ready' }]],
    ['status.conditions[0]', [pod, {}, { ...runs, conditions: [null] }]],
    ['status.containerStatuses', [pod, {}, { containerStatuses: {} }]],
    ['status.initContainerStatuses', [pod, {}, { initContainerStatuses: 7 }]],
    ['status.ephemeralContainerStatuses[1]', [pod, {}, { ephemeralContainerStatuses: [container, 'c'] }]],
    ['oldStatus.conditions', [pod, { conditions: {} }, runs]],
    ['pod.status.conditions', [{ ...pod, status: { conditions: 'Ready' } }, {}, runs]],
    ['pod.spec.containers', [{ ...pod, spec: { containers: 'app' } }, {}, runs]],
    ['pod.spec.readinessGates[0]', [podOf({ readinessGates: ['gate'] as never }), {}, runs]],
    ['options.sandboxes', [pod, {}, runs, { sandboxes: 'none' }]],
    ['options.runtimeContainers', [pod, {}, runs, { runtimeContainers: {} }]],
    ['options.resizeConditions', [pod, {}, runs, { resizeConditions: {} }]],
  ])('is refused: %s', (path, args) => {
    const message = expect.stringContaining(`Expected \`${path}\` to be `);
    expect(() => call(...args)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', message }));
  });

  it.each([
    ['options.sandbox', { sandbox: [] }],
    ['options.ownedConditionTypes', { ownedConditionTypes: 'a' }],
  ])('is refused: %s', (path, options) => {
    const message = expect.stringContaining(`Expected \`${path}\` to be `);
    expect(() => call(pod, {}, runs, options)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION', message }));
  });

  it.each([generateContainersReadyCondition, generatePodInitializedCondition])('is refused by each generator', (generate) => {
    expect(() => generate(pod, undefined, 'c' as never, 'Running')).toThrow(
      expect.objectContaining({
        code: 'ERR_INVALID_ARGUMENT',
        message: expect.stringContaining('`containerStatuses` to be a list'),
      }),
    );
  });
});

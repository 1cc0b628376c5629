// After pkg/kubelet/kubelet_pods_test.go, v1.36.3: TestPodPhaseWithRestartAlways, …Never, …OnFailure, …RestartableInitContainers,
// TestPodPhaseWithContainerRestartPolicy, TestConvertToAPIContainerStatusesForRestartAllContainers.
import { describe, expect, it } from 'vitest';
import type { Pod, PodStatus } from '../../../../src/api/json/types.ts';
import { getPhase } from '../../../../src/node/pod-status/get-phase.ts';

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];
type Container = NonNullable<Pod['spec']>['containers'][number];

const base = { image: '', imageID: '', ready: false, restartCount: 0 };
const runs = (name: string, started?: boolean): ContainerStatus => ({ ...base, name, state: { running: {} }, started });
const waits = (name: string): ContainerStatus => ({ ...base, name, state: { waiting: {} } });
const ended = (name: string, exitCode = 0, reason = ''): ContainerStatus => ({
  ...base,
  name,
  state: { terminated: { exitCode, reason } },
});
const waitsAfter = (name: string, exitCode = 0, reason = ''): ContainerStatus => ({
  ...base,
  name,
  state: { waiting: { reason: 'CrashLoopBackOff' } },
  lastState: { terminated: { exitCode, reason } },
});
const silent = (name: string): ContainerStatus => ({ ...base, name });

const sidecar = (name: string): Container => ({ name, restartPolicy: 'Always' });
const plain = (name: string): Container => ({ name });

interface Parts {
  policy?: string;
  init?: Container[];
  regular?: Container[];
  terminal?: boolean;
  initialised?: boolean;
  static?: boolean;
}

function phaseOf(parts: Parts, ...statuses: ContainerStatus[]): string {
  const annotations = parts.static ? { 'kubernetes.io/config.source': 'file' } : { 'kubernetes.io/config.source': 'api' };
  const pod: Pod = {
    metadata: { name: 'p', annotations },
    spec: {
      restartPolicy: parts.policy ?? 'Always',
      initContainers: parts.init ?? [],
      containers: parts.regular ?? [plain('a'), plain('b')],
    },
  };
  return getPhase(pod, statuses, { podIsTerminal: parts.terminal === true, podHasInitialized: parts.initialised === true });
}

const [never, onFailure] = [{ policy: 'Never' }, { policy: 'OnFailure' }];

describe('the phase of regular containers', () => {
  it.each<[string, Parts, ContainerStatus[], string]>([
    ['nothing is known of any', {}, [], 'Pending'],
    ['nothing is known of one', {}, [runs('a')], 'Pending'],
    ['one has a status that says nothing', {}, [runs('a'), silent('b')], 'Pending'],
    ['all run', {}, [runs('a'), runs('b')], 'Running'],
    ['one waits to be created', {}, [runs('a'), waits('b')], 'Pending'],
    ['one runs and one has ended', never, [runs('a'), ended('b', 1)], 'Running'],
    ['one waits to be started again', {}, [runs('a'), waitsAfter('b', 1)], 'Running'],
    ['all have ended, and will be started again', {}, [ended('a'), ended('b', 1)], 'Running'],
    ['all have succeeded for good', never, [ended('a'), ended('b')], 'Succeeded'],
    ['one has failed for good', never, [ended('a'), ended('b', 1)], 'Failed'],
    ['one has failed, and will be started again', onFailure, [ended('a'), ended('b', 1)], 'Running'],
    ['all have succeeded, and only failures are started again', onFailure, [ended('a'), ended('b')], 'Succeeded'],
    ['one waits after a success that counts no more', never, [ended('a'), waitsAfter('b', 0)], 'Failed'],
    ['all wait after an end, and may run again', {}, [waitsAfter('a'), waitsAfter('b')], 'Running'],
  ])('%s', (_, parts, statuses, phase) => {
    expect(phaseOf(parts, ...statuses)).toBe(phase);
  });
});

describe('the phase of a terminal pod', () => {
  it.each<[string, Parts, ContainerStatus[], string]>([
    ['is Succeeded when all succeeded, whatever the policy', { terminal: true }, [ended('a'), ended('b')], 'Succeeded'],
    ['is Failed when one failed', { terminal: true }, [ended('a'), ended('b', 1)], 'Failed'],
    ['is Running while one still runs', { terminal: true }, [ended('a'), runs('b')], 'Running'],
    ['stays Running for a static pod', { terminal: true, static: true }, [ended('a'), ended('b')], 'Running'],
    ['of a static pod follows its policy', { terminal: true, static: true, ...never }, [ended('a'), ended('b')], 'Succeeded'],
  ])('%s', (_, parts, statuses, phase) => {
    expect(phaseOf(parts, ...statuses)).toBe(phase);
  });
});

describe('the phase of init containers', () => {
  const init = { init: [plain('x')] };
  const done = [runs('a'), runs('b')];

  it.each<[string, Parts, ContainerStatus[], string]>([
    ['one is not known', init, done, 'Pending'],
    ['one runs', init, [runs('x'), ...done], 'Pending'],
    ['one waits', init, [waits('x'), ...done], 'Pending'],
    ['one says nothing', init, [silent('x'), ...done], 'Pending'],
    ['one has succeeded', init, [ended('x'), ...done], 'Running'],
    ['one has failed for good', { ...init, ...never }, [ended('x', 1), waits('a'), waits('b')], 'Failed'],
    ['one waits after it failed for good', { ...init, ...never }, [waitsAfter('x', 1), waits('a'), waits('b')], 'Failed'],
    ['one has failed, and will be started again', init, [ended('x', 1), waits('a'), waits('b')], 'Pending'],
    [
      'one has ended for a restart of all',
      { ...init, ...never },
      [ended('x', 1, 'RestartingAllContainers'), waits('a'), waits('b')],
      'Pending',
    ],
  ])('%s', (_, parts, statuses, phase) => {
    expect(phaseOf(parts, ...statuses)).toBe(phase);
  });
});

describe('the phase of sidecars', () => {
  const init = { init: [sidecar('s')] };
  const done = [runs('a'), runs('b')];

  it.each<[string, Parts, ContainerStatus[], string]>([
    ['one is not known', init, done, 'Pending'],
    ['one runs and has not started', init, [runs('s', false), ...done], 'Pending'],
    ['one runs, and nobody has said that it started', init, [runs('s'), ...done], 'Pending'],
    ['one has started', init, [runs('s', true), ...done], 'Running'],
    ['one runs anew in a pod that was initialised', { ...init, initialised: true }, [runs('s', false), ...done], 'Running'],
    ['one waits to be created', { ...init, initialised: true }, [waits('s'), ...done], 'Pending'],
    ['one says nothing', { ...init, initialised: true }, [silent('s'), ...done], 'Pending'],
    ['one has failed', init, [ended('s', 1), ...done], 'Running'],
    ['one waits after it failed', init, [waitsAfter('s', 1), ...done], 'Running'],
    ['one runs on after all others have ended', { ...init, ...never }, [runs('s', true), ended('a'), ended('b')], 'Running'],
    ['one has failed and all others have succeeded', { ...init, ...never }, [ended('s', 1), ended('a'), ended('b')], 'Succeeded'],
  ])('%s', (_, parts, statuses, phase) => {
    expect(phaseOf(parts, ...statuses)).toBe(phase);
  });
});

describe('the phase under rules of the containers themselves', () => {
  const rule = { action: 'Restart', exitCodes: { operator: 'In', values: [42] } };
  const ruled: Container = { name: 'a', restartPolicy: 'Never', restartPolicyRules: [rule] };

  it.each<[string, Parts, ContainerStatus[], string]>([
    ['a rule starts it again', { regular: [ruled], ...never }, [ended('a', 42)], 'Running'],
    ['no rule speaks of the code', { regular: [ruled] }, [ended('a', 1)], 'Failed'],
    ['its own policy beats the pod', { regular: [{ name: 'a', restartPolicy: 'Always' }], ...never }, [ended('a', 1)], 'Running'],
    ['a rule starts an init container again', { init: [{ ...ruled, name: 'x' }], ...never }, [ended('x', 42)], 'Pending'],
    ['all are restarted in place', never, [waitsAfter('a', 137, 'RestartingAllContainers'), ended('b', 1)], 'Running'],
  ])('%s', (_, parts, statuses, phase) => {
    expect(phaseOf(parts, ...statuses)).toBe(phase);
  });
});

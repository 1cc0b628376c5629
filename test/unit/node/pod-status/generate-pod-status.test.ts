// After pkg/kubelet/kubelet_pods_test.go, v1.36.3: Test_generateAPIPodStatus, TestGenerateAPIPodStatusHostNetworkPodIPs,
// TestNodeAddressUpdatesGenerateAPIPodStatusHostNetworkPodIPs, Test_generateAPIPodStatusForInPlaceVPAEnabled.
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { WirePodStatus } from '../../../../src/api/json/types.ts';
import { isStatusManagerError } from '../../../../src/base/errors.ts';
import type { ContainerProbeStates } from '../../../../src/node/pod-status/container-statuses.ts';
import { type GeneratePodStatusOptions, generatePodStatus } from '../../../../src/node/pod-status/generate-pod-status.ts';
import type { ProbeManager } from '../../../../src/node/probes/probe-manager.ts';
import { beganAt, containerOf, exited, podOf, running, runtimeOf, statusOf } from './pods.ts';

const conditionOf = (status: WirePodStatus, type: string) => status.conditions?.find((condition) => condition.type === type);

describe('the phase of a generated status', () => {
  const never = { restartPolicy: 'Never' };

  it('stays terminal when the status before was', () => {
    expect(statusOf(podOf(), runtimeOf(running()), { previous: { phase: 'Failed' } }).phase).toBe('Failed');
  });

  it('stays terminal when the apiserver says so, whatever else is known', () => {
    const pod = podOf(never, { phase: 'Succeeded' });
    expect(statusOf(pod, runtimeOf(exited('a', 1)), { previous: { phase: 'Failed' } }).phase).toBe('Succeeded');
    expect(statusOf(pod, runtimeOf(running()), { previous: { phase: 'Running' } }).phase).toBe('Succeeded');
  });

  it('keeps the reason and the message that belong to it, the apiserver’s where there are no others', () => {
    const pod = podOf({}, { phase: 'Failed', reason: 'theirs', message: 'their words' });
    const previous = { phase: 'Failed', reason: 'ours' };
    expect(statusOf(pod, runtimeOf(running()), { previous })).toMatchObject({ reason: 'ours', message: 'their words' });
  });

  it('drops them with another phase', () => {
    const previous = { phase: 'Pending', reason: 'ours', message: 'our words' };
    const status = statusOf(podOf(), runtimeOf(running()), { previous });
    expect(status).toMatchObject({ phase: 'Running' });
    expect(status).not.toHaveProperty('reason');
    expect(status).not.toHaveProperty('message');
  });

  it('is Failed once the pod is evicted, with the reason for that', () => {
    const eviction = { reason: 'Evicted', message: 'no memory' };
    expect(statusOf(podOf(), runtimeOf(running()), { eviction })).toMatchObject({ phase: 'Failed', ...eviction });
    const over = podOf({}, { phase: 'Succeeded' });
    expect(statusOf(over, runtimeOf(), { eviction })).toMatchObject({ phase: 'Succeeded', reason: 'Evicted' });
  });

  it('is terminal for a terminal pod, whatever its restart policy', () => {
    const pod = podOf({}, {}, { annotations: { 'kubernetes.io/config.source': 'api' } });
    expect(statusOf(pod, runtimeOf(exited())).phase).toBe('Running');
    expect(statusOf(pod, runtimeOf(exited()), { podIsTerminal: true }).phase).toBe('Succeeded');
  });

  it('asks whether a regular container was made in the sandbox in use', () => {
    const pod = podOf({ initContainers: [{ name: 's', restartPolicy: 'Always' }] });
    const phaseWith = (active: boolean) => statusOf(pod, runtimeOf(running('a', { active }), running('s'))).phase;
    expect([phaseWith(true), phaseWith(false)]).toEqual(['Running', 'Pending']);
  });
});

describe('what the probes say', () => {
  const answering = (started: unknown, ready: unknown) =>
    ({ containerState: () => ({ started, ready }) }) as ContainerProbeStates;
  const stateWith = (probes: ContainerProbeStates) => {
    const { started, ready } = containerOf(statusOf(podOf(), runtimeOf(running()), { probes })) ?? {};
    return [started, ready];
  };

  it('decides whether a running container has started and is ready', () => {
    expect(stateWith(answering(true, true))).toEqual([true, true]);
    expect(stateWith(answering(true, false))).toEqual([true, false]);
    expect(stateWith(answering(false, true))).toEqual([false, false]);
  });

  it('counts as no when it is no answer', () => {
    expect(stateWith(answering('yes', 1))).toEqual([false, false]);
    expect(stateWith({ containerState: () => undefined } as unknown as ContainerProbeStates)).toEqual([false, false]);
    const throwing = () => {
      throw new Error('no');
    };
    expect(stateWith({ containerState: throwing })).toEqual([false, false]);
    const rejecting = { containerState: () => Promise.reject(new Error('no')) } as unknown as ContainerProbeStates;
    expect(stateWith(rejecting)).toEqual([false, false]);
  });

  it('is not asked of a container that does not run', () => {
    const asked: string[] = [];
    const probes: ContainerProbeStates = {
      containerState(_, { name }) {
        asked.push(name);
        return { started: true, ready: true };
      },
    };
    statusOf(podOf({ containers: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] }), runtimeOf(running('a'), exited('b')), {
      probes,
    });
    expect(asked).toEqual(['a']);
  });

  it('may come from a probe manager', () => {
    expectTypeOf<ProbeManager>().toExtend<ContainerProbeStates>();
  });
});

describe('the addresses of a generated status', () => {
  it('are the runtime’s, in the order of the node’s families', () => {
    const runtime = { ...runtimeOf(running()), ips: ['fd00::1', '10.0.0.1', '10.0.0.2'] };
    const hostIPs = ['192.0.2.1', '2001:db8::1'];
    expect(statusOf(podOf(), runtime, { hostIPs })).toMatchObject({
      hostIP: '192.0.2.1',
      hostIPs: [{ ip: '192.0.2.1' }, { ip: '2001:db8::1' }],
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }],
    });
    expect(statusOf(podOf(), runtime, { hostIPs, nodeIPs: ['2001:db8::1'] }).podIP).toBe('fd00::1');
  });

  it('are the node’s for a pod in its network', () => {
    const runtime = { ...runtimeOf(running()), ips: [] };
    const status = statusOf(podOf({ hostNetwork: true }), runtime, { hostIPs: ['192.0.2.1', '2001:db8::1'] });
    expect(status.podIPs).toEqual([{ ip: '192.0.2.1' }, { ip: '2001:db8::1' }]);
  });

  it('are left out while there are none', () => {
    const status = statusOf(podOf(), { ...runtimeOf(), ips: [] });
    for (const member of ['podIP', 'podIPs', 'hostIP', 'hostIPs']) expect(status).not.toHaveProperty(member);
  });
});

describe('the conditions of a generated status', () => {
  it('are those of others, the resize conditions, and the kubelet’s own', () => {
    const theirs = { type: 'example.com/gate', status: 'True', lastTransitionTime: '2000-01-01T00:00:00Z' };
    const pod = podOf({ readinessGates: [{ conditionType: 'example.com/gate' }] }, { conditions: [theirs] }, { generation: 4 });
    const resizing = { type: 'PodResizePending', status: 'True', reason: 'Deferred' };
    const status = statusOf(pod, runtimeOf(running()), { resizeConditions: [resizing] });
    expect(status.conditions?.map(({ type, status: value }) => `${type} ${value}`)).toEqual([
      'example.com/gate True',
      'PodResizePending True',
      'PodReadyToStartContainers True',
      'Initialized True',
      'Ready True',
      'ContainersReady True',
      'PodScheduled True',
    ]);
    expect(conditionOf(status, 'Ready')?.observedGeneration).toBe(4);
    expect(conditionOf(status, 'example.com/gate')).toEqual(theirs);
  });

  it('ask for every readiness gate', () => {
    const pod = podOf({ readinessGates: [{ conditionType: 'example.com/gate' }] });
    const status = statusOf(pod, runtimeOf(running()));
    expect(conditionOf(status, 'Ready')).toMatchObject({ status: 'False', reason: 'ReadinessGatesNotReady' });
    expect(conditionOf(status, 'ContainersReady')?.status).toBe('True');
  });

  it('keep a disruption of the status before', () => {
    const disruption = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' };
    const status = statusOf(podOf(), runtimeOf(running()), { previous: { conditions: [disruption] } });
    expect(conditionOf(status, 'DisruptionTarget')).toEqual(disruption);
  });
});

describe('generatePodStatus', () => {
  it('falls back on the apiserver’s copy where there is no status before', () => {
    const pod = podOf({}, { phase: 'Failed', reason: 'Evicted' });
    expect(statusOf(pod, runtimeOf(running()))).toMatchObject({ phase: 'Failed', reason: 'Evicted' });
  });

  it('takes times as client-node has them', () => {
    const state = { terminated: { exitCode: 1, finishedAt: new Date('2000-01-01T00:00:00.700Z') } };
    const old = { name: 'a', image: '', imageID: '', ready: false, restartCount: 0, state };
    const status = statusOf(podOf({ restartPolicy: 'Never' }, { containerStatuses: [old] }), runtimeOf());
    expect(containerOf(status)?.state).toEqual({ terminated: { exitCode: 1, finishedAt: '2000-01-01T00:00:00Z' } });
  });

  it('changes nothing that it is given', () => {
    const pod = podOf({ initContainers: [{ name: 'x' }] }, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] });
    const runtimeStatus = runtimeOf(running(), exited('x'));
    const previous = { containerStatuses: [{ name: 'a', image: '', imageID: '', ready: true, restartCount: 0 }] };
    const before = structuredClone({ pod, runtimeStatus, previous });
    const status = generatePodStatus({ pod, runtimeStatus, previous });
    Object.assign(status.conditions?.[0] ?? {}, { status: 'changed' });
    expect({ pod, runtimeStatus, previous }).toEqual(before);
  });

  it.each<[string, unknown, string]>([
    ['no object', 7, ' to be an object'],
    ['no name', running(''), '.name` to be a non-empty string'],
    ['no id', { name: 'a', state: 'running' }, '.id` to be a string'],
    ['a misspelt state', { ...running(), state: 'Running' }, '.state` to be "created", "running", "exited" or "unknown"'],
    ['less than no restart', running('a', { restartCount: -1 }), '.restartCount` to be a whole number, 0 or more'],
    ['a restart count that is no number', running('a', { restartCount: Number.NaN }), '.restartCount` to be a whole number'],
    ['half a restart', running('a', { restartCount: 1.5 }), '.restartCount` to be a whole number'],
    ['an exit code that is no number', exited('a', Number.NaN), '.exitCode` to be a whole number'],
    ['an exit code of more than 32 bits', exited('a', 2 ** 31), '.exitCode` to be a whole number'],
    ['a creation that is no number', running('a', { createdAt: Number.NaN }), '.createdAt` to be milliseconds'],
    ['a start beyond all years', running('a', { startedAt: 1e20 }), '.startedAt` to be milliseconds'],
    ['a start that is a text', { ...running(), startedAt: beganAt }, '.startedAt` to be milliseconds'],
    ['an end that is null', { ...exited(), finishedAt: null }, '.finishedAt` to be milliseconds'],
    ['a reason that is no text', { ...exited(), reason: 7 }, '.reason` to be a string'],
  ])('refuses a record with %s', (_, record, message) => {
    const runtimeStatus = runtimeOf(running(), record as ReturnType<typeof running>);
    expect(() => statusOf(podOf(), runtimeStatus)).toThrow(
      expect.objectContaining({
        code: 'ERR_INVALID_ARGUMENT',
        message: expect.stringContaining(`\`runtimeStatus.containers[1]${message.startsWith('.') ? message : `\`${message}`}`),
      }),
    );
  });

  it('takes records that say no more than they must, and the ends of the years', () => {
    const [first, last] = [Date.UTC(1, 0, 1), Date.UTC(9999, 11, 31, 23, 59, 59, 999)];
    const bare = { name: 'a', id: '', state: 'created' } as const;
    expect(containerOf(statusOf(podOf(), runtimeOf(bare)))?.state).toEqual({ waiting: {} });
    const long = exited('a', -(2 ** 31), { createdAt: 0.5, startedAt: first, finishedAt: last, restartCount: 2 ** 31 - 1 });
    expect(containerOf(statusOf(podOf(), runtimeOf(long)))).toMatchObject({
      restartCount: 2 ** 31 - 1,
      state: { terminated: { exitCode: -(2 ** 31), finishedAt: '9999-12-31T23:59:59Z' } },
    });
  });

  it.each<[string, object, string]>([
    ['an unknown option', { runtime: {} }, 'ERR_INVALID_OPTION'],
    ['no pod', { pod: undefined }, 'ERR_INVALID_ARGUMENT'],
    ['no view of the runtime', { runtimeStatus: undefined }, 'ERR_INVALID_ARGUMENT'],
    ['a view without containers', { runtimeStatus: { podUID: 'u', ips: [], sandboxes: [] } }, 'ERR_INVALID_ARGUMENT'],
    ['a status before that is none', { previous: { containerStatuses: 7 } }, 'ERR_INVALID_ARGUMENT'],
    [
      'a resource that is no quantity',
      { pod: podOf({ containers: [{ name: 'a', resources: { requests: { cpu: 'much' } } }] }) },
      'ERR_INVALID_ARGUMENT',
    ],
  ])('refuses %s', (_, more, code) => {
    const options = { pod: podOf(), runtimeStatus: runtimeOf(), ...more } as GeneratePodStatusOptions;
    let thrown: unknown;
    try {
      generatePodStatus(options);
    } catch (error) {
      thrown = error;
    }
    expect(isStatusManagerError(thrown) && thrown.code).toBe(code);
  });
});

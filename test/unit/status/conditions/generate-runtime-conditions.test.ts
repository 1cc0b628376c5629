import { describe, expect, it } from 'vitest';
import type { Pod, PodStatus } from '../../../../src/api/json/types.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../../../src/api/pod/runtime-pod.ts';
import {
  generateAllContainersRestartingCondition,
  generatePodReadyToStartContainersCondition,
} from '../../../../src/status/conditions/generate-runtime-conditions.ts';

describe('generatePodReadyToStartContainersCondition', () => {
  const withIP: RuntimeSandbox = { ready: true, network: { ip: '10.0.0.10' } };
  const onHost: RuntimeSandbox = { ready: true, hostNetwork: true, network: { ip: '' } };
  type Row = [id: string, behaviour: string, sandboxes: RuntimeSandbox[], is: string, hostNetwork?: boolean];
  const rows: Row[] = [
    ['T-GEN-37', 'is false without a sandbox', [], 'False'],
    ['T-GEN-38', 'is false while the sandbox is not ready', [{ ready: false }], 'False'],
    ['T-GEN-39', 'is false without an address', [{ ready: true, network: { ip: '' } }], 'False'],
    ['T-GEN-40', 'is true with an address', [withIP], 'True'],
    ['no network info', 'is true when the runtime says nothing of the network', [{ ready: true }], 'True'],
    ['newest counts', 'is false while only an older sandbox is ready', [{ ready: false }, withIP], 'False'],
    ['older dead', 'is true when the older sandbox is not ready', [withIP, { ready: false }], 'True'],
    ['two ready', 'is false while two are ready', [withIP, withIP], 'False'],
    ['host network', 'needs no address on the host network', [onHost], 'True', true],
    ['host, wrong sandbox', 'is false for a host network pod in a sandbox of its own', [withIP], 'False', true],
    ['pod, wrong sandbox', 'is false for a pod in a sandbox on the host network', [onHost], 'False'],
  ];
  it.each(rows)('[%s] %s', (_id, _behaviour, sandboxes, is, hostNetwork) => {
    const pod: Pod = { metadata: { generation: 4 }, spec: { containers: [], ...(hostNetwork && { hostNetwork }) } };
    expect(generatePodReadyToStartContainersCondition(pod, {}, sandboxes)).toStrictEqual({
      type: 'PodReadyToStartContainers',
      status: is,
      observedGeneration: 4,
    });
  });
});

describe('generateAllContainersRestartingCondition', () => {
  const trigger = {
    name: 'trigger',
    restartPolicy: 'Never',
    restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }],
  };
  const pod: Pod = { metadata: { generation: 4 }, spec: { containers: [{ name: 'container1' }, trigger] } };
  const type = 'AllContainersRestarting';
  const restarting: PodStatus = { conditions: [{ type, status: 'True' }] };
  const exited = (name: string, exitCode: number): RuntimeContainer => ({ name, state: 'exited', exitCode });
  const no = { type, status: 'False' };
  const yes = {
    type,
    status: 'True',
    reason: 'RestartAllContainersStarted',
    message: 'container exited with restart policy rule',
  };
  const reported = (exitCode: number): PodStatus => ({
    containerStatuses: [
      { name: 'trigger', image: '', imageID: '', ready: false, restartCount: 0, state: { terminated: { exitCode } } },
    ],
  });

  type Row = [id: string, phase: string, containers: RuntimeContainer[], old: PodStatus | undefined, is: object];
  const rows: Row[] = [
    ['T-GEN-41: nothing in the runtime', 'Pending', [], undefined, no],
    ['T-GEN-42: failed', 'Failed', [], undefined, { ...no, reason: 'PodFailed' }],
    ['T-GEN-43: succeeded', 'Succeeded', [], undefined, { ...no, reason: 'PodCompleted' }],
    ['T-GEN-44: trigger exited 42', 'Running', [{ name: 'container1', state: 'running' }, exited('trigger', 42)], undefined, yes],
    ['T-GEN-45: already restarting', 'Running', [exited('container1', 137), exited('trigger', 42)], restarting, yes],
    ['T-GEN-46: all removed', 'Pending', [], restarting, no],
    ['another exit code', 'Running', [exited('trigger', 1)], {}, no],
    ['trigger runs', 'Running', [{ name: 'trigger', state: 'running' }], reported(42), no],
    ['another container exited 42', 'Running', [exited('container1', 42)], {}, no],
    ['the reported code counts once the record has exited', 'Running', [exited('trigger', 137)], reported(42), yes],
    ['the newest record counts', 'Running', [{ name: 'trigger', state: 'running' }, exited('trigger', 42)], {}, no],
    ['only containers of the spec count', 'Running', [exited('gone', 42)], restarting, no],
  ];
  it.each(rows)('[%s] in phase %s', (_id, phase, containers, old, is) => {
    expect(generateAllContainersRestartingCondition(pod, old, containers, phase)).toStrictEqual(is);
  });
});

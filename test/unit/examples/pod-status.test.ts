import { describe, expect, it } from 'vitest';
import { makePodStatus } from '../../../examples/virtual-node/pod-status.ts';
import { kindLabel, podTemplate } from '../../../examples/virtual-node/pod-template.ts';
import { Random } from '../../../examples/virtual-node/random.ts';
import { VirtualPod } from '../../../examples/virtual-node/virtual-pod.ts';
import type { WirePod } from '../../../src/index.ts';
import { PodStore } from '../../../src/testing.ts';

function aPod(restartPolicy: string, spec: Partial<NonNullable<WirePod['spec']>> = {}): WirePod {
  const containers = [{ name: 'app', image: 'app:1' }];
  return {
    metadata: { name: 'web', namespace: 'default', uid: 'u1', labels: { [kindLabel]: 'web' } },
    spec: { nodeName: 'node', restartPolicy, containers, ...spec },
  };
}

const conditionOf = (status: ReturnType<typeof makePodStatus>, type: string) =>
  status.conditions?.find((condition) => condition.type === type)?.status;

describe('makePodStatus', () => {
  it('is Pending before a container has run and Running afterwards', () => {
    const pod = aPod('Always');
    const runtime = new VirtualPod(pod);
    expect(makePodStatus(pod, runtime).phase).toBe('Pending');
    for (const container of runtime.containers) container.start();
    expect(makePodStatus(pod, runtime).phase).toBe('Running');
  });

  it.each([
    ['Never', 0, 'Succeeded'],
    ['Never', 1, 'Failed'],
    ['OnFailure', 0, 'Succeeded'],
    ['OnFailure', 1, 'Running'],
    ['Always', 0, 'Running'],
  ])('follows the restart policy %s when every container exits with %d: %s', (restartPolicy, exitCode, phase) => {
    const pod = aPod(restartPolicy);
    const runtime = new VirtualPod(pod);
    for (const container of runtime.containers) {
      container.start();
      container.exit(exitCode);
    }
    expect(makePodStatus(pod, runtime).phase).toBe(phase);
  });

  it('ends a stopped pod as its containers ended, whatever its restart policy', () => {
    const pod = aPod('Always');
    const runtime = new VirtualPod(pod);
    runtime.isStopping = true;
    expect(makePodStatus(pod, runtime).phase).toBe('Failed');
    for (const container of runtime.containers) {
      container.start();
      expect(makePodStatus(pod, runtime).phase).toBe('Running');
      container.exit(0);
    }
    expect(makePodStatus(pod, runtime).phase).toBe('Succeeded');
  });

  it('is Ready only when the containers are ready and the readiness gate of another controller is True', () => {
    const pod = aPod('Always', { readinessGates: [{ conditionType: 'example.com/Gate' }] });
    const runtime = new VirtualPod(pod);
    for (const container of runtime.containers) {
      container.start();
      container.ready = true;
    }
    expect(conditionOf(makePodStatus(pod, runtime), 'Ready')).toBe('False');
    const gated = { ...pod, status: { conditions: [{ type: 'example.com/Gate', status: 'True' }] } };
    const status = makePodStatus(gated, runtime);
    expect(conditionOf(status, 'Ready')).toBe('True');
    expect(conditionOf(status, 'example.com/Gate')).toBe('True');
  });

  it('makes statuses that an apiserver accepts, in every stage of a pod of any kind', () => {
    const store = new PodStore();
    const kinds = ['web', 'flapping', 'crashing', 'job'] as const;
    const names = kinds.flatMap((kind) => Array.from({ length: 10 }, (_, seed) => ({ kind, name: `${kind}-${seed}`, seed })));
    for (const { kind, name, seed } of names) {
      const template = podTemplate({ name, kind, runID: 'run', nodeName: 'node', random: new Random(seed) });
      const created = store.create({ ...template, metadata: { ...template.metadata, namespace: 'default' } });
      const runtime = new VirtualPod(created);
      const write = () => store.updateStatus({ ...store.get('default', name), status: makePodStatus(created, runtime) });
      write();
      runtime.ip = '10.0.0.1';
      for (const container of runtime.allContainers) {
        container.start();
        write();
        container.exit(1);
        write();
      }
      expect(store.get('default', name).status?.hostIPs).toEqual([{ ip: store.get('default', name).status?.hostIP }]);
    }
  });
});

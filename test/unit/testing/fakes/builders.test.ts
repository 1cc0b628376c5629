import { describe, expect, it } from 'vitest';
import { isMirrorPod, isMirrorPodOf, isStaticPod } from '../../../../src/api/pod/pod-identity.ts';
import * as builders from '../../../../src/testing/fakes/builders.ts';
import { PodStore } from '../../../../src/testing/pods-api/pod-store.ts';

const { buildMirrorPodOf, buildPod, buildRunningStatus, buildStaticPod, buildTerminatedStatus } = builders;
const strategic = 'application/strategic-merge-patch+json';

describe('builders', () => {
  it('builds equal pods at every call, and another uid for each name', () => {
    expect(buildPod()).toEqual(buildPod());
    expect(buildPod()).not.toBe(buildPod());
    expect(buildPod({ metadata: { name: 'a' } }).metadata?.uid).not.toBe(buildPod({ metadata: { name: 'b' } }).metadata?.uid);
    expect(buildPod({ spec: { nodeName: 'n' }, status: { phase: 'Failed' } })).toMatchObject({
      spec: { nodeName: 'n' },
      status: { phase: 'Failed' },
    });
  });

  it('builds static pods and their mirror pods', () => {
    const pod = buildStaticPod({ metadata: { name: 's', annotations: { more: '1' } } });
    const mirror = buildMirrorPodOf(pod);
    expect([isStaticPod(pod), isMirrorPod(pod), isStaticPod(buildPod())]).toEqual([true, false, false]);
    expect([isMirrorPod(mirror), isMirrorPodOf(mirror, pod)]).toEqual([true, true]);
    expect(mirror.metadata?.uid).not.toBe(pod.metadata?.uid);
    expect(mirror.metadata?.annotations?.more).toBe('1');
  });

  it('builds pods and statuses that a validating store accepts', () => {
    const spec = {
      initContainers: [
        { name: 'init', image: 'i' },
        { name: 'sidecar', image: 'i', restartPolicy: 'Always' },
      ],
    };
    for (const pod of [buildPod({ spec }), buildMirrorPodOf(buildStaticPod())]) {
      const store = new PodStore();
      store.create(pod);
      for (const status of [buildRunningStatus(pod), buildTerminatedStatus(pod, 1)]) {
        const patch = { type: strategic, body: { status }, subresource: 'status' } as const;
        expect(store.patch('default', pod.metadata?.name ?? '', patch).status?.phase).toBe(status.phase);
      }
    }
  });

  it('builds statuses for the containers of the pod', () => {
    const spec = {
      initContainers: [{ name: 'i' }, { name: 's', restartPolicy: 'Always' }],
      containers: [{ name: 'a' }, { name: 'b' }],
    };
    const status = buildRunningStatus(buildPod({ spec }), { podIP: '10.0.0.9' });
    expect(status.podIP).toBe('10.0.0.9');
    expect(status.containerStatuses?.map(({ name, ready }) => [name, ready])).toEqual([
      ['a', true],
      ['b', true],
    ]);
    expect(status.initContainerStatuses?.map(({ state }) => Object.keys(state ?? {}))).toEqual([['terminated'], ['running']]);
    expect(buildTerminatedStatus(buildPod(), 3)).toMatchObject({
      phase: 'Failed',
      containerStatuses: [{ state: { terminated: { exitCode: 3, reason: 'Error' } } }],
    });
    expect(buildTerminatedStatus(buildPod()).phase).toBe('Succeeded');
    expect(builders.buildReadyCondition('False')).toMatchObject({ type: 'Ready', status: 'False', reason: 'ContainersNotReady' });
    expect(builders.buildWaitingState('ImagePullBackOff')).toEqual({ waiting: { reason: 'ImagePullBackOff' } });
  });
});

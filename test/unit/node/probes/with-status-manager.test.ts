import { describe, expect, it } from 'vitest';
import { StatusManager } from '../../../../src/index.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import { exec, failure, ProbeWorld, podOf, running, success } from './probe-world.ts';

describe('a probe manager beside a status manager', () => {
  it('takes the containers from it, and gives it what the probes say', async () => {
    const podManager = new BasicPodManager();
    const podDeletionSafety = { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false };
    const statusManager = new StatusManager({ podClient: null, podManager, podDeletionSafety });
    const world = new ProbeWorld({ statusManager });
    const pod = podOf({ readinessProbe: exec({ periodSeconds: 1 }), startupProbe: exec({ periodSeconds: 1 }) });
    podManager.addPod(pod);
    statusManager.setPodStatus(pod, running({ started: false }));
    const shown = () => {
      const { started, ready } = statusManager.getPodStatus('u1')?.containerStatuses?.[0] ?? {};
      return [started, ready, statusManager.getPodStatus('u1')?.conditions?.find(({ type }) => type === 'Ready')?.status];
    };
    await world.add(pod);
    expect(shown().slice(0, 2)).toEqual([true, false]);
    await world.seconds(1);
    expect(shown()).toEqual([true, true, 'True']);
    world.answer = async () => failure;
    await world.seconds(1);
    expect(shown()).toEqual([true, false, 'False']);
    world.answer = async () => success;
    await world.manager.stop();
    await statusManager.stop();
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contractCommands } from './contract-lives.ts';
import { ContractPod, failureOf } from './contract-pod.ts';
import type { MakeRuntimeSubject, RuntimeSubject } from './runtime-subject.ts';

/** What every runtime says of itself, what it measures, and what is left after it was away. */
export function healthContract(makeSubject: MakeRuntimeSubject): void {
  describe('the runtime', () => {
    let subject: RuntimeSubject;
    beforeAll(async () => {
      subject = await makeSubject();
    });
    afterAll(() => subject.close());

    it('says who it is, that it is ready, and what it can do', async () => {
      const { runtime } = subject;
      expect(await runtime.version()).toMatchObject({ runtimeApiVersion: 'v1', runtimeName: expect.stringMatching(/./) });
      const { conditions, handlers } = await runtime.health();
      const ready = conditions.filter(({ type }) => type === 'RuntimeReady' || type === 'NetworkReady');
      expect(ready.map(({ type, status }) => [type, status]).sort()).toEqual([
        ['NetworkReady', true],
        ['RuntimeReady', true],
      ]);
      expect(handlers.map(({ name }) => name)).toContain('');
      expect(['cgroupfs', 'systemd']).toContain(await runtime.cgroupDriver());
    });

    it('measures containers and pods', async () => {
      const pod = await ContractPod.run(subject);
      const id = await pod.start('runsUntilAsked');
      const { runtime } = subject;
      const [usage, ...others] = await runtime.listContainerStats({ podUID: pod.uid });
      expect([usage, others]).toEqual([expect.objectContaining({ containerID: id, name: 'app' }), []]);
      expect(usage?.labels).toEqual(pod.container('runsUntilAsked').labels);
      expect(usage?.memoryWorkingSetBytes).toBeGreaterThan(0);
      expect(usage?.cpuNanoseconds).toBeGreaterThanOrEqual(0);
      expect(await runtime.listContainerStats({ containerID: id })).toMatchObject([{ containerID: id }]);
      const [ofPod] = await runtime.listPodSandboxStats({ podUID: pod.uid });
      expect(ofPod).toMatchObject({ sandboxID: pod.sandboxID, containers: [{ containerID: id }] });
      expect(await runtime.listPodSandboxStats({ podUID: pod.uid, ready: false })).toEqual([]);
    });

    it('fails calls with kind unavailable while it is away, and has everything when it is back', async () => {
      const pod = await ContractPod.run(subject);
      const id = await pod.start('runsUntilAsked');
      const { runtime } = subject;
      const before = await runtime.containerStatus(id);
      const underWay = runtime.execSync(id, contractCommands.lasts.command, 0).catch((error: unknown) => error);
      await runtime.version();
      await subject.takeDown();
      expect(await underWay).toMatchObject({ name: 'RuntimeError', kind: 'unavailable', call: 'ExecSync' });
      for (const call of [() => runtime.version(), () => runtime.listContainers(), () => runtime.listImages()]) {
        expect(await failureOf(subject, call())).toMatchObject({ name: 'RuntimeError', kind: 'unavailable' });
      }
      await subject.bringUp();
      expect(await subject.runtime.containerStatus(id)).toEqual(before);
      expect(await subject.runtime.podSandboxStatus(pod.sandboxID)).toMatchObject({ state: 'ready' });
      await subject.settled(subject.runtime.stopContainer(id, 30));
      expect(await subject.runtime.containerStatus(id)).toMatchObject({ state: 'exited', exitCode: 7 });
    });
  });
}

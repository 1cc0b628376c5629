import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RuntimeEvent } from '../../../src/kubelet/runtime/container-runtime.ts';
import { ContractPod } from './contract-pod.ts';
import type { MakeRuntimeSubject, RuntimeSubject } from './runtime-subject.ts';

/** What every runtime tells by events. */
export function eventContract(makeSubject: MakeRuntimeSubject): void {
  describe('events', () => {
    let subject: RuntimeSubject;
    beforeAll(async () => {
      subject = await makeSubject();
    });
    afterAll(() => subject.close());

    /** Events from now on. The runtime has begun to send them once it has told of a first pod. */
    async function listen() {
      const seen: RuntimeEvent[] = [];
      const controller = new AbortController();
      const ended = (async () => {
        for await (const event of subject.runtime.events(controller.signal)) seen.push(event);
      })();
      const first = await ContractPod.run(subject);
      await subject.until(() => seen.some(({ podUID }) => podUID === first.uid));
      return { seen, end: () => controller.abort(), ended };
    }

    it('tell of each step of a pod, in order, with the pod as it was', async () => {
      const { seen, end, ended } = await listen();
      const pod = await ContractPod.run(subject);
      const id = await pod.start('runsUntilAsked');
      await subject.settled(subject.runtime.stopContainer(id, 0));
      await subject.settled(subject.runtime.removeContainer(id));
      await subject.settled(subject.runtime.stopPodSandbox(pod.sandboxID));
      await subject.settled(subject.runtime.removePodSandbox(pod.sandboxID));
      const events = () => seen.filter(({ podUID }) => podUID === pod.uid);
      await subject.until(() => events().some(({ type, containerID }) => type === 'deleted' && containerID === pod.sandboxID));
      expect(events().map(({ type, containerID }) => [type, containerID])).toEqual([
        ['created', pod.sandboxID],
        ['started', pod.sandboxID],
        ['created', id],
        ['started', id],
        ['stopped', id],
        ['deleted', id],
        ['stopped', pod.sandboxID],
        ['deleted', pod.sandboxID],
      ]);
      const started = events()[3];
      expect(started?.sandbox).toMatchObject({ id: pod.sandboxID, state: 'ready', metadata: pod.config.metadata });
      expect(started?.containers).toMatchObject([{ id, sandboxID: pod.sandboxID, state: 'running' }]);
      expect(events()[4]?.containers).toMatchObject([{ id, state: 'exited', exitCode: 137 }]);
      expect(events()[5]?.containers).toEqual([]);
      for (const { at } of events()) expect(at).toBeLessThanOrEqual(subject.now());
      end();
      await ended;
    });

    it('end when the signal aborts, and the calls go on', async () => {
      const { end, ended } = await listen();
      end();
      await ended;
      expect((await subject.runtime.version()).runtimeApiVersion).toBe('v1');
    });

    it('end with kind unavailable when the runtime goes away, and go on when it is back', async () => {
      const { ended, end } = await listen();
      const failure = ended.catch((error: unknown) => error);
      await subject.takeDown();
      expect(await failure).toMatchObject({ name: 'RuntimeError', kind: 'unavailable', call: 'GetContainerEvents' });
      end();
      await subject.bringUp();
      const again = await listen();
      again.end();
      await again.ended;
      expect(again.seen.length).toBeGreaterThan(0);
    });
  });
}

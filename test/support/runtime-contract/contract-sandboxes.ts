import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sandboxConfigOf } from '../runtime-configs.ts';
import { ContractPod, contractSandbox, failureOf } from './contract-pod.ts';
import type { MakeRuntimeSubject, RuntimeSubject } from './runtime-subject.ts';

const noSandbox = '0'.repeat(64);

/** What every runtime does with sandboxes. */
export function sandboxContract(makeSubject: MakeRuntimeSubject): void {
  describe('sandboxes', () => {
    let subject: RuntimeSubject;
    beforeAll(async () => {
      subject = await makeSubject();
    });
    afterAll(() => subject.close());

    it('are told with what they were made from', async () => {
      const before = subject.now();
      const pod = await ContractPod.run(subject, { annotations: { note: 'kept' } });
      const { metadata, labels, annotations } = pod.config;
      const record = { id: pod.sandboxID, metadata, labels, annotations, state: 'ready', runtimeHandler: '' };
      const [listed, ...others] = await subject.runtime.listPodSandboxes({ podUID: pod.uid });
      const status = await subject.runtime.podSandboxStatus(pod.sandboxID);
      expect([listed, others]).toEqual([expect.objectContaining(record), []]);
      expect(status).toMatchObject({ ...record, createdAt: listed?.createdAt });
      expect(status.createdAt).toBeGreaterThanOrEqual(before);
      expect(status.createdAt).toBeLessThanOrEqual(subject.now());
    });

    it('have each an address of its own, and none in the network of the node', async () => {
      const [one, other] = [await ContractPod.run(subject), await ContractPod.run(subject)];
      const { linux } = sandboxConfigOf('any');
      const namespaces = { ...linux.securityContext.namespaces, network: 'node' } as const;
      const securityContext = { ...linux.securityContext, namespaces };
      const onNode = await ContractPod.run(subject, { hostname: '', linux: { ...linux, securityContext } });
      const ipsOf = async ({ sandboxID }: ContractPod) => (await subject.runtime.podSandboxStatus(sandboxID)).ips;
      const [[ip], [otherIP], none] = [await ipsOf(one), await ipsOf(other), await ipsOf(onNode)];
      expect(ip).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
      expect(otherIP).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
      expect([ip === otherIP, none]).toEqual([false, []]);
    });

    it('stay on the list when they are stopped, and are gone when they are removed', async () => {
      const { runtime } = subject;
      const { sandboxID, uid } = await ContractPod.run(subject);
      for (let time = 0; time < 2; time += 1) await subject.settled(runtime.stopPodSandbox(sandboxID));
      expect(await runtime.podSandboxStatus(sandboxID)).toMatchObject({ state: 'notready' });
      expect(await runtime.listPodSandboxes({ podUID: uid })).toMatchObject([{ id: sandboxID, state: 'notready' }]);
      for (let time = 0; time < 2; time += 1) await subject.settled(runtime.removePodSandbox(sandboxID));
      expect(await runtime.listPodSandboxes({ podUID: uid })).toEqual([]);
      expect(await failureOf(subject, runtime.podSandboxStatus(sandboxID))).toMatchObject({ kind: 'not-found' });
    });

    it('that are not there can be stopped and removed, and have no status', async () => {
      const { runtime } = subject;
      await subject.settled(runtime.stopPodSandbox(noSandbox));
      await subject.settled(runtime.removePodSandbox(noSandbox));
      const failure = await failureOf(subject, runtime.podSandboxStatus(noSandbox));
      expect(failure).toMatchObject({ name: 'RuntimeError', kind: 'not-found', call: 'PodSandboxStatus' });
    });

    it('end what runs in them when they are stopped', async () => {
      const pod = await ContractPod.run(subject);
      const id = await pod.start('ignoresSigterm');
      await subject.settled(subject.runtime.stopPodSandbox(pod.sandboxID));
      expect(await subject.runtime.containerStatus(id)).toMatchObject({ state: 'exited', exitCode: 137 });
    });

    it('take their containers with them when they are removed, whether or not these run', async () => {
      const pod = await ContractPod.run(subject);
      await pod.start('runsUntilAsked');
      await pod.create('runsUntilAsked', { metadata: { name: 'other', attempt: 0 }, logPath: 'other/0.log' });
      await subject.settled(subject.runtime.removePodSandbox(pod.sandboxID));
      expect(await subject.runtime.listContainers({ podUID: pod.uid })).toEqual([]);
      expect(await subject.runtime.listPodSandboxes({ podUID: pod.uid })).toEqual([]);
    });

    it('are made once by the same name, uid and attempt', async () => {
      const { config, uid, sandboxID } = await ContractPod.run(subject);
      const failure = await failureOf(subject, subject.runtime.runPodSandbox(config, ''));
      expect(failure).toMatchObject({ name: 'RuntimeError', message: expect.stringContaining(sandboxID) });
      const next = await subject.settled(subject.runtime.runPodSandbox(contractSandbox(subject, uid, 1), ''));
      const ids = (await subject.runtime.listPodSandboxes({ podUID: uid })).map(({ id }) => id);
      expect(ids.sort()).toEqual([sandboxID, next].sort());
    });

    it('are listed by pod and by state', async () => {
      const [ready, ended] = [await ContractPod.run(subject), await ContractPod.run(subject)];
      await subject.settled(subject.runtime.stopPodSandbox(ended.sandboxID));
      const listed = async (isReady: boolean) => (await subject.runtime.listPodSandboxes({ ready: isReady })).map(({ id }) => id);
      expect(await listed(true)).toContain(ready.sandboxID);
      expect(await listed(true)).not.toContain(ended.sandboxID);
      expect(await listed(false)).toContain(ended.sandboxID);
      expect(await listed(false)).not.toContain(ready.sandboxID);
      expect(await subject.runtime.listPodSandboxes({ podUID: ready.uid, ready: false })).toEqual([]);
    });

    it('are refused with a runtime handler that is not there', async () => {
      const call = subject.runtime.runPodSandbox(sandboxConfigOf('any'), 'no-such-handler');
      const failure = await failureOf(subject, call);
      expect(failure).toMatchObject({ name: 'RuntimeError', kind: 'failed', call: 'RunPodSandbox' });
      expect(failure).toMatchObject({ message: expect.stringContaining('no-such-handler') });
    });
  });
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noSuchCommand } from './contract-lives.ts';
import { ContractPod, failureOf } from './contract-pod.ts';
import type { MakeRuntimeSubject, RuntimeSubject } from './runtime-subject.ts';

const noContainer = '0'.repeat(64);
const other = { metadata: { name: 'other', attempt: 0 }, logPath: 'other/0.log' };

/** What every runtime does with containers. */
export function containerContract(makeSubject: MakeRuntimeSubject): void {
  describe('containers', () => {
    let subject: RuntimeSubject;
    beforeAll(async () => {
      subject = await makeSubject();
    });
    afterAll(() => subject.close());
    const statusOf = (id: string) => subject.runtime.containerStatus(id);

    it('are made, run and end, each at its time', async () => {
      const pod = await ContractPod.run(subject);
      const config = pod.container('fails');
      const id = await pod.create('fails');
      const made = await statusOf(id);
      const { metadata, labels, annotations } = config;
      expect(made).toMatchObject({ id, sandboxID: pod.sandboxID, metadata, labels, annotations, state: 'created' });
      expect([made.startedAt, made.finishedAt]).toEqual([0, 0]);
      await subject.settled(subject.runtime.startContainer(id));
      const ended = await pod.ended(id);
      expect(ended).toMatchObject({ id, sandboxID: pod.sandboxID, exitCode: 3, reason: 'Error' });
      expect(ended.startedAt).toBeGreaterThanOrEqual(made.createdAt);
      // containerd notes the start only after it, which may be a millisecond after the end of a container that ends at once
      expect(ended.finishedAt).toBeGreaterThanOrEqual(made.createdAt);
      expect(ended.finishedAt).toBeLessThanOrEqual(subject.now());
    });

    it('that end well have completed', async () => {
      const pod = await ContractPod.run(subject);
      const id = await pod.start('completes');
      expect(await pod.ended(id)).toMatchObject({ exitCode: 0, reason: 'Completed' });
    });

    it('are listed as they are: by pod, by sandbox, by id', async () => {
      const pod = await ContractPod.run(subject);
      const [running, made] = [await pod.start('runsUntilAsked'), await pod.create('runsUntilAsked', other)];
      const { image, imageRef } = await statusOf(running);
      const shared = { sandboxID: pod.sandboxID, image, imageRef };
      const { runtime } = subject;
      const inPod = [...(await runtime.listContainers({ podUID: pod.uid }))].sort((a, b) => a.createdAt - b.createdAt);
      expect(inPod).toMatchObject([
        { ...shared, id: running, state: 'running', metadata: { name: 'app', attempt: 0 } },
        { ...shared, id: made, state: 'created', metadata: { name: 'other', attempt: 0 } },
      ]);
      expect(await runtime.listContainers({ sandboxID: pod.sandboxID })).toHaveLength(2);
      expect(await runtime.listContainers({ containerID: made })).toMatchObject([{ id: made }]);
      expect(await runtime.listContainers({ containerID: noContainer })).toEqual([]);
      expect((await runtime.listContainers()).map(({ id }) => id)).toEqual(expect.arrayContaining([running, made]));
    });

    it.each([
      ['end with their own exit code when they are asked to', 'runsUntilAsked', 30, 7],
      ['are killed when they do not end in time', 'ignoresSigterm', 1, 137],
      ['are killed at once without a grace period', 'runsUntilAsked', 0, 137],
    ] as const)('%s', async (_, life, graceSeconds, exitCode) => {
      const pod = await ContractPod.run(subject);
      const id = await pod.start(life);
      // what a container's shell does first is to say that it ends when it is asked to
      await subject.until(async () => (await subject.settled(subject.runtime.execSync(id, ['true'], 5))).exitCode === 0);
      await subject.settled(subject.runtime.stopContainer(id, graceSeconds));
      expect(await statusOf(id)).toMatchObject({ state: 'exited', exitCode });
      await subject.settled(subject.runtime.stopContainer(id, graceSeconds));
    });

    it('are killed sooner when they are stopped again with less time', async () => {
      const pod = await ContractPod.run(subject);
      const id = await pod.start('ignoresSigterm');
      const startedAt = subject.now();
      const patient = subject.runtime.stopContainer(id, 100);
      await subject.settled(subject.runtime.stopContainer(id, 1));
      await subject.settled(patient);
      expect(await statusOf(id)).toMatchObject({ state: 'exited', exitCode: 137 });
      expect(subject.now() - startedAt).toBeLessThan(60_000);
    });

    it('that run are ended by nothing but what was asked', async () => {
      const pod = await ContractPod.run(subject);
      const id = await pod.create('runsUntilAsked');
      await subject.settled(subject.runtime.stopContainer(id, 0));
      const { state } = await statusOf(id);
      const started = await pod.start('runsUntilAsked', other);
      expect([state, (await statusOf(started)).state]).toEqual(['created', 'running']);
    });

    it('that are not there can be stopped and removed, and nothing else', async () => {
      const { runtime } = subject;
      await subject.settled(runtime.stopContainer(noContainer, 0));
      await subject.settled(runtime.removeContainer(noContainer));
      const calls = {
        ContainerStatus: () => runtime.containerStatus(noContainer),
        StartContainer: () => runtime.startContainer(noContainer),
        UpdateContainerResources: () => runtime.updateContainerResources(noContainer, { cpuShares: 100 }),
        ReopenContainerLog: () => runtime.reopenContainerLog(noContainer),
      };
      for (const [call, make] of Object.entries(calls)) {
        expect(await failureOf(subject, make())).toMatchObject({ name: 'RuntimeError', kind: 'not-found', call });
      }
    });

    it('are ended and gone when they are removed', async () => {
      const pod = await ContractPod.run(subject);
      const id = await pod.start('ignoresSigterm');
      for (let time = 0; time < 2; time += 1) await subject.settled(subject.runtime.removeContainer(id));
      expect(await subject.runtime.listContainers({ podUID: pod.uid })).toEqual([]);
      expect(await failureOf(subject, statusOf(id))).toMatchObject({ kind: 'not-found' });
    });

    it('are started once', async () => {
      const pod = await ContractPod.run(subject);
      const running = await pod.start('runsUntilAsked');
      const ended = await pod.start('completes', other);
      await pod.ended(ended);
      for (const id of [running, ended]) {
        expect(await failureOf(subject, subject.runtime.startContainer(id))).toMatchObject({ kind: 'failed' });
      }
      expect(await statusOf(running)).toMatchObject({ state: 'running' });
    });

    it('are made once by the same name and attempt', async () => {
      const pod = await ContractPod.run(subject);
      const id = await pod.create('completes');
      const failure = await failureOf(subject, pod.create('completes'));
      expect(failure).toMatchObject({ name: 'RuntimeError', message: expect.stringContaining(id) });
      const next = await pod.create('completes', { metadata: { name: 'app', attempt: 1 } });
      expect((await statusOf(next)).metadata).toEqual({ name: 'app', attempt: 1 });
    });

    it('are made only where there is a sandbox and an image, and started only where the sandbox goes on', async () => {
      const pod = await ContractPod.run(subject);
      const { runtime } = subject;
      const nowhere = runtime.createContainer(noContainer, pod.container('completes'), pod.config);
      expect(await failureOf(subject, nowhere)).toMatchObject({ kind: 'not-found', call: 'CreateContainer' });
      const noImage = pod.create('completes', { image: { image: subject.missingImage } });
      expect(await failureOf(subject, noImage)).toMatchObject({ kind: 'not-found', call: 'CreateContainer' });
      const id = await pod.create('completes');
      await subject.settled(runtime.stopPodSandbox(pod.sandboxID));
      expect(await failureOf(subject, runtime.startContainer(id))).toMatchObject({ kind: 'failed' });
      const late = runtime.createContainer(pod.sandboxID, pod.container('completes', other), pod.config);
      expect(await failureOf(subject, late)).toMatchObject({ kind: 'failed' });
    });

    it('that cannot start say why, and have ended', async () => {
      const pod = await ContractPod.run(subject);
      const id = await pod.create('completes', { command: [noSuchCommand] });
      const failure = await failureOf(subject, subject.runtime.startContainer(id));
      expect(failure).toMatchObject({ name: 'RuntimeError', kind: 'failed', call: 'StartContainer' });
      expect(failure).toMatchObject({ message: expect.stringContaining(noSuchCommand) });
      const status = await statusOf(id);
      expect(status).toMatchObject({ state: 'exited', exitCode: 128, reason: 'StartError' });
      expect(status.message).toContain(noSuchCommand);
    });

    it('say which image they were made from', async () => {
      const { runtime, image } = subject;
      const pod = await ContractPod.run(subject);
      const { imageRef, imageID, image: name } = await statusOf(await pod.create('completes'));
      const made = await runtime.imageStatus(image);
      expect(await runtime.imageStatus(imageRef)).toEqual(made);
      expect(await runtime.imageStatus(name)).toEqual(made);
      // some runtimes say no id
      expect(['', made?.id]).toContain(imageID);
    });

    it('take new limits while they run and when they have ended', async () => {
      const pod = await ContractPod.run(subject);
      const id = await pod.start('runsUntilAsked', { resources: { cpuShares: 256, memoryLimitInBytes: 64 * 2 ** 20 } });
      expect((await statusOf(id)).resources).toMatchObject({ cpuShares: 256, memoryLimitInBytes: 64 * 2 ** 20 });
      await subject.settled(subject.runtime.updateContainerResources(id, { cpuShares: 512 }));
      expect((await statusOf(id)).resources).toMatchObject({ cpuShares: 512, memoryLimitInBytes: 64 * 2 ** 20 });
      await subject.settled(subject.runtime.stopContainer(id, 0));
      await subject.settled(subject.runtime.updateContainerResources(id, { cpuShares: 1024 }));
      expect((await statusOf(id)).resources).toMatchObject({ cpuShares: 1024 });
    });

    it('have the user and the groups that were asked for', async () => {
      const pod = await ContractPod.run(subject);
      const { securityContext } = pod.container('runsUntilAsked');
      const asked = { runAsUser: 1234, runAsGroup: 5678, supplementalGroups: [99], supplementalGroupsPolicy: 'Strict' } as const;
      const id = await pod.start('runsUntilAsked', { securityContext: { ...securityContext, ...asked } });
      const { uid, gid, supplementalGroups } = (await statusOf(id)).user ?? {};
      expect([uid, gid]).toEqual([1234, 5678]);
      expect(supplementalGroups).toContain(99);
    });
  });
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ContractPod, failureOf } from './contract-pod.ts';
import type { MakeRuntimeSubject, RuntimeSubject } from './runtime-subject.ts';

/** How every runtime writes the logs of containers. */
export function logContract(makeSubject: MakeRuntimeSubject): void {
  describe('logs', () => {
    let subject: RuntimeSubject;
    beforeAll(async () => {
      subject = await makeSubject();
    });
    afterAll(() => subject.close());

    it('are in the file that the configuration names, each line with its time, stream and tag', async () => {
      const pod = await ContractPod.run(subject);
      const id = await pod.start('speaks');
      const { logPath, startedAt } = await subject.runtime.containerStatus(id);
      expect(logPath).toBe(`${pod.config.logDirectory}/app/0.log`);
      const lines = async () => (await subject.readFile(logPath)).split('\n').filter((line) => line !== '');
      await subject.until(async () => (await lines()).length === 2);
      const words = (await lines()).map((line) => line.split(' '));
      expect(words.map(([, ...rest]) => rest)).toEqual([
        ['stdout', 'F', 'one'],
        ['stdout', 'F', 'two'],
      ]);
      for (const [time = ''] of words) expect(Date.parse(time)).toBeGreaterThanOrEqual(startedAt - 1000);
    });

    it('are begun anew only of a container that runs', async () => {
      const pod = await ContractPod.run(subject);
      const running = await pod.start('speaks');
      await subject.settled(subject.runtime.reopenContainerLog(running));
      expect(await subject.runtime.containerStatus(running)).toMatchObject({ state: 'running' });
      await subject.settled(subject.runtime.stopContainer(running, 0));
      const failure = await failureOf(subject, subject.runtime.reopenContainerLog(running));
      expect(failure).toMatchObject({ name: 'RuntimeError', kind: 'failed', call: 'ReopenContainerLog' });
    });
  });
}

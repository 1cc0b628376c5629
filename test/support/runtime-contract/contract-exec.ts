import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contractCommands } from './contract-lives.ts';
import { ContractPod, failureOf } from './contract-pod.ts';
import type { MakeRuntimeSubject, RuntimeSubject } from './runtime-subject.ts';

const noContainer = '0'.repeat(64);
const { speaks, writesMuch, writesTooMuch, lasts } = contractCommands;
const stream = { tty: false, stdin: false, stdout: true, stderr: true };

/** What every runtime does with commands and streams. */
export function execContract(makeSubject: MakeRuntimeSubject): void {
  describe('commands and streams', () => {
    let subject: RuntimeSubject;
    let pod: ContractPod;
    let running: string;
    beforeAll(async () => {
      subject = await makeSubject();
      pod = await ContractPod.run(subject);
      running = await pod.start('runsUntilAsked');
    });
    afterAll(() => subject.close());

    it('give what a command wrote, apart, and how it ended', async () => {
      const { stdout, stderr, exitCode } = await subject.settled(subject.runtime.execSync(running, speaks.command, 10));
      const shown = { stdout: Buffer.from(stdout).toString(), stderr: Buffer.from(stderr).toString(), exitCode };
      expect(shown).toEqual(speaks.result);
    });

    it('are refused where a command writes more than 1 MiB, which is what they give at most', async () => {
      const run = ({ command }: { readonly command: readonly string[] }) => subject.runtime.execSync(running, command, 10);
      expect((await subject.settled(run(writesMuch))).stdout).toHaveLength(1_048_576);
      const failure = await failureOf(subject, run(writesTooMuch));
      expect(failure).toMatchObject({ name: 'RuntimeError', kind: 'failed', call: 'ExecSync' });
    });

    it('end a command whose time is over', async () => {
      const failure = await failureOf(subject, subject.runtime.execSync(running, lasts.command, 1));
      expect(failure).toMatchObject({ name: 'RuntimeError', kind: 'timeout', call: 'ExecSync' });
    });

    it('are given up by a signal, with its reason', async () => {
      const controller = new AbortController();
      const call = failureOf(subject, subject.runtime.execSync(running, lasts.command, 0, { signal: controller.signal }));
      const reason = new Error('enough');
      controller.abort(reason);
      expect(await call).toBe(reason);
      expect(await subject.runtime.containerStatus(running)).toMatchObject({ state: 'running' });
    });

    it('are refused of a container that does not run', async () => {
      const ended = await pod.start('completes', { metadata: { name: 'ended', attempt: 0 }, logPath: 'ended/0.log' });
      await pod.ended(ended);
      const { runtime } = subject;
      const calls = {
        ExecSync: () => runtime.execSync(ended, speaks.command, 10),
        Exec: () => runtime.exec(ended, ['ls'], stream),
        Attach: () => runtime.attach(ended, stream),
      };
      for (const [call, make] of Object.entries(calls)) {
        expect(await failureOf(subject, make())).toMatchObject({ name: 'RuntimeError', kind: 'failed', call });
      }
    });

    it('have each an address', async () => {
      const { runtime } = subject;
      const urls = [
        await runtime.exec(running, ['ls'], stream),
        await runtime.attach(running, stream),
        await runtime.portForward(pod.sandboxID, [80]),
      ];
      for (const url of urls) expect(new URL(url).protocol).toBe('http:');
      expect(new Set(urls).size).toBe(3);
    });

    it('are refused to the ports of a sandbox that has ended', async () => {
      const ended = await ContractPod.run(subject);
      await subject.settled(subject.runtime.stopPodSandbox(ended.sandboxID));
      const failure = await failureOf(subject, subject.runtime.portForward(ended.sandboxID, [80]));
      expect(failure).toMatchObject({ name: 'RuntimeError', kind: 'failed', call: 'PortForward' });
    });

    it('are refused of what is not there', async () => {
      const { runtime } = subject;
      const calls = {
        ExecSync: () => runtime.execSync(noContainer, ['ls'], 1),
        Exec: () => runtime.exec(noContainer, ['ls'], stream),
        Attach: () => runtime.attach(noContainer, stream),
        PortForward: () => runtime.portForward(noContainer, [80]),
      };
      for (const [call, make] of Object.entries(calls)) {
        expect(await failureOf(subject, make())).toMatchObject({ name: 'RuntimeError', kind: 'not-found', call });
      }
    });
  });
}

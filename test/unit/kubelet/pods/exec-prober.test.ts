import { describe, expect, it } from 'vitest';
import { execProber } from '../../../../src/kubelet/pods/exec-prober.ts';
import { RuntimeError } from '../../../../src/kubelet/runtime/container-runtime.ts';

const subject = { podUID: '1', podName: 'web', namespace: 'default', containerName: 'app', containerID: 'containerd://abc' };
const target = { ...subject, timeoutSeconds: 2, command: ['sh', '-c', 'exit 3'] };
const never = new AbortController().signal;
const bytes = (text: string) => new TextEncoder().encode(text);

describe('a probe that runs a command', () => {
  it('succeeds where the command does, with all that it says', async () => {
    const seen: unknown[] = [];
    const probe = execProber({
      execSync: async (...args) => {
        seen.push(...args.slice(0, 3));
        return { exitCode: 0, stdout: bytes('all '), stderr: bytes('well') };
      },
    });
    expect(await probe(target, never)).toEqual({ result: 'success', output: 'all well' });
    expect(seen).toEqual(['abc', target.command, 2]);
  });

  it('fails where the command does, and says at most ten KiB', async () => {
    const stdout = bytes('x'.repeat(20_000));
    const probe = execProber({ execSync: async () => ({ exitCode: 3, stdout, stderr: bytes('') }) });
    expect(await probe(target, never)).toEqual({ result: 'failure', output: 'x'.repeat(10_240) });
  });

  it('has failed when it takes too long', async () => {
    const late = { result: 'failure', output: 'command timed out: "sh -c exit 3" timed out after 2s' };
    const probe = execProber({ execSync: () => Promise.reject(new RuntimeError('timeout', 'ExecSync', 'deadline')) });
    expect(await probe(target, never)).toEqual(late);
    const hanging = execProber({
      execSync: (_id, _command, _timeout, call) =>
        new Promise((_, reject) => call?.signal?.addEventListener('abort', () => reject(call.signal?.reason))),
    });
    const controller = new AbortController();
    const answer = hanging(target, controller.signal);
    controller.abort(new DOMException('The time of the probe is over', 'TimeoutError'));
    expect(await answer).toEqual(late);
  });

  it('says nothing where the command could not be run', async () => {
    const error = new RuntimeError('not-found', 'ExecSync', 'no such container');
    const probe = execProber({ execSync: () => Promise.reject(error) });
    expect(await probe(target, never)).toEqual({ result: 'unknown', error });
  });
});

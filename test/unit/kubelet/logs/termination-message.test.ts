import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { terminationMessageOf } from '../../../../src/kubelet/logs/termination-message.ts';
import type { ContainerDetails } from '../../../../src/kubelet/runtime/runtime-containers.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { line, logFile } from './log-files.ts';

const messagePath = '/dev/termination-log';

function exited(hostPath: string | undefined, changes: Partial<ContainerDetails> = {}): ContainerDetails {
  const mount = { containerPath: messagePath, hostPath: hostPath ?? '', readonly: false, selinuxRelabel: false };
  return {
    ...{ id: 'c', sandboxID: 's', metadata: { name: 'app', attempt: 0 }, image: 'app:1', imageRef: 'app:1', imageID: 'app:1' },
    ...{ state: 'exited', createdAt: 1, startedAt: 2, finishedAt: 3, exitCode: 1, reason: 'Error', message: '', labels: {} },
    annotations: { 'io.kubernetes.container.terminationMessagePath': messagePath },
    mounts: hostPath === undefined ? [] : [{ ...mount, propagation: 'private' }],
    logPath: '/nowhere/0.log',
    ...changes,
  };
}

const fallingBack = {
  'io.kubernetes.container.terminationMessagePath': messagePath,
  'io.kubernetes.container.terminationMessagePolicy': 'FallbackToLogsOnError',
};

async function messageFile(content: string | Buffer): Promise<string> {
  const path = join(await tempDir(), '0a1b');
  await writeFile(path, content);
  return path;
}

describe('the termination message of a container', () => {
  it('is what the file on the node holds', async () => {
    expect(await terminationMessageOf(exited(await messageFile('out of cheese\n')))).toBe('out of cheese\n');
  });

  it('is empty while the container runs', async () => {
    expect(await terminationMessageOf(exited(await messageFile('early'), { state: 'running' }))).toBe('');
  });

  it('is found for a path that is not absolute', async () => {
    const annotations = { 'io.kubernetes.container.terminationMessagePath': 'dev/termination-log' };
    expect(await terminationMessageOf(exited(await messageFile('found'), { annotations }))).toBe('found');
  });

  it('is the last 4,096 bytes of a long file', async () => {
    const message = await terminationMessageOf(exited(await messageFile(`begin${'x'.repeat(5000)}end`)));
    expect(message).toBe(`${'x'.repeat(4093)}end`);
  });

  it('begins with a whole character', async () => {
    const message = await terminationMessageOf(exited(await messageFile(`${'é'.repeat(3000)}x`)));
    expect(message).toBe(`${'é'.repeat(2047)}x`);
  });

  it('is empty without a file, a mount or a path', async () => {
    expect(await terminationMessageOf(exited(join(await tempDir(), 'none')))).toBe('');
    expect(await terminationMessageOf(exited(undefined))).toBe('');
    expect(await terminationMessageOf(exited(await messageFile('unasked'), { annotations: {} }))).toBe('');
  });

  it('says why it is none for what is no regular file', async () => {
    const folder = await tempDir();
    const secret = join(folder, 'secret');
    await writeFile(secret, 'the secret of the node');
    await symlink(secret, join(folder, 'link'));
    await mkdir(join(folder, 'folder'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    for (const path of [...['link', 'folder', 'pipe'].map((name) => join(folder, name)), '/dev/zero']) {
      const message = await terminationMessageOf(exited(path, { annotations: fallingBack }));
      expect(message).toContain(`Error on reading termination log ${path}: `);
      expect(message).not.toContain('the secret');
    }
  });
});

describe('a container that falls back to its logs', () => {
  const failed = async (text: string, changes: Partial<ContainerDetails> = {}): Promise<string> =>
    terminationMessageOf(exited(await messageFile(''), { annotations: fallingBack, logPath: await logFile(text), ...changes }));

  it('shows both of its outputs', async () => {
    expect(await failed(line(1, 'one') + line(2, 'two', { stream: 'stderr' }))).toBe('one\ntwo\n');
  });

  it('gets no line feed after a part of a line', async () => {
    expect(await failed(line(1, 'one', { tag: 'P' }) + line(1, ' and more', { tag: 'P' }))).toBe('one and more');
  });

  it('shows at most 80 lines', async () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
    expect(await failed(lines.map((text, index) => line(index, text)).join(''))).toBe(`${lines.slice(20).join('\n')}\n`);
  });

  it('shows at most 2,048 bytes', async () => {
    const message = await failed(Array.from({ length: 80 }, (_, index) => line(index, 'y'.repeat(99))).join(''));
    expect(Buffer.byteLength(message)).toBe(2048);
    expect(message.endsWith(`${'y'.repeat(99)}\n`)).toBe(true);
  });

  it('shows the end of a line that no memory should hold', async () => {
    expect(await failed(line(1, `${'z'.repeat(300_000)}end`))).toBe(`${'z'.repeat(2044)}end\n`);
  });

  it('keeps what the file says', async () => {
    const details = exited(await messageFile('the file'), {
      annotations: fallingBack,
      logPath: await logFile(line(1, 'the log')),
    });
    expect(await terminationMessageOf(details)).toBe('the file');
  });

  it.each([{ exitCode: 0 }, { reason: 'ContainerCannotRun' }])('does not with %o', async (changes) => {
    expect(await failed(line(1, 'one'), changes)).toBe('');
  });

  it('says why there is no log', async () => {
    expect(await failed('', { logPath: '/nowhere/0.log' })).toMatch(/^Error on reading termination message from logs: ENOENT/);
    expect(await failed('no log line\n')).toBe('Error on reading termination message from logs: unsupported log format');
  });
});

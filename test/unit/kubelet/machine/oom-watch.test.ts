import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OomWatch, systemOomMessages } from '../../../../src/kubelet/machine/oom-watch.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const kill = (text: string, prefix = '3') => `${prefix},100,5000,-;${text}\n`;
const usage = 'total-vm:16kB, anon-rss:8kB, file-rss:4kB, shmem-rss:0kB, UID:0 pgtables:40kB oom_score_adj:0';

/** A watch of a log that begins with this text, and what it has told. */
async function watched(before: string) {
  const path = join(await tempDir(), 'kmsg');
  await writeFile(path, before);
  const clock = new FakeClock();
  const told: string[] = [];
  const lines: string[] = [];
  const note = (_: object, message: string): void => void lines.push(message);
  const logger = { debug: note, info: note, warn: note, error: note };
  const watch = new OomWatch({ path, clock, logger, nodeEvent: (reason, message) => void told.push(`${reason}: ${message}`) });
  onTestFinished(() => watch.stop());
  return { path, clock, told, lines, watch };
}

describe('what the kernel says', () => {
  it.each([
    [`Out of memory: Killed process 17 (python3) ${usage}`, 'python3', '17'],
    [`Out of memory (oom_kill_allocating_task): Killed process 18 (a b) ${usage}`, 'a b', '18'],
    ['Out of memory: Kill process 1532 (old) score 919 or sacrifice child', 'old', '1532'],
    [`Out of memory: Killed process 19 (x) total-vm:1kB (y)) ${usage}`, 'x) total-vm:1kB (y)', '19'],
  ])('is a want of memory of the node: %s', (text, name, pid) => {
    expect(systemOomMessages(kill(text))).toEqual([`System OOM encountered, victim process: ${name}, pid: ${pid}`]);
  });

  it.each([
    ['of one container', kill(`Memory cgroup out of memory: Killed process 20 (app) ${usage}`)],
    ['the beginning of the same message', kill('app invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0')],
    ['written by a process', kill(`Out of memory: Killed process 21 (forged) ${usage}`, '11')],
    ['within another message', kill(`app: Out of memory: Killed process 22 (forged) ${usage}`)],
    ['a property of a message', ` Out of memory: Killed process 23 (forged) ${usage}\n`],
    ['no message', 'Out of memory: Killed process 24'],
    ['empty', ''],
  ])('is none where it is %s', (_, record) => {
    expect(systemOomMessages(record)).toEqual([]);
  });
});

describe('the watch of the kernel', () => {
  it('tells of each process that was killed since it began, and keeps no file after its stop', async () => {
    const { path, clock, told, watch } = await watched(kill(`Out of memory: Killed process 1 (before) ${usage}`));
    watch.start();
    await clock.advance(20_000);
    expect(told).toEqual([]);
    await appendFile(path, kill(`Out of memory: Killed process 2 (one) ${usage}`) + kill('unrelated'));
    await clock.advance(10_000);
    await appendFile(path, kill(`Out of memory: Killed process 3 (two) ${usage}`));
    await clock.advance(10_000);
    expect(told).toEqual([
      'SystemOOM: System OOM encountered, victim process: one, pid: 2',
      'SystemOOM: System OOM encountered, victim process: two, pid: 3',
    ]);
    await watch.stop();
    await appendFile(path, kill(`Out of memory: Killed process 4 (late) ${usage}`));
    await clock.advance(60_000);
    expect([told.length, clock.pendingTimers]).toEqual([2, 0]);
  });

  it('reads a long log in pieces, and tells nothing of what was there before it began', async () => {
    const many = Array.from({ length: 40_000 }, () => kill(`Out of memory: Killed process 5 (before) ${usage}`)).join('');
    const { path, clock, told, watch } = await watched(many);
    watch.start();
    await clock.advance(1000);
    await appendFile(path, kill(`Out of memory: Killed process 6 (now) ${usage}`));
    await clock.advance(20_000);
    expect(told).toEqual(['SystemOOM: System OOM encountered, victim process: now, pid: 6']);
  });

  it('tells nothing where the log cannot be read, and fails nothing', async () => {
    const { watch, clock, lines, told } = await watched('');
    const missing = new OomWatch({
      ...{ path: '/no-such-folder/kmsg', clock, nodeEvent: () => told.push('told') },
      logger: { debug: () => {}, info: (_, message) => void lines.push(message), warn: () => {}, error: () => {} },
    });
    missing.start();
    await clock.advance(60_000);
    await missing.stop();
    await watch.stop();
    expect([lines, told, clock.pendingTimers]).toEqual([
      ['the log of the kernel cannot be read: no event SystemOOM is written'],
      [],
      0,
    ]);
  });
});

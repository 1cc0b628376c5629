import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { SupervisedProcess } from '../../support/control-plane/supervised-process.ts';
import { isAlive } from '../../support/is-alive.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { until } from '../../support/until.ts';

const supervisedProcessModule = new URL('../../support/control-plane/supervised-process.ts', import.meta.url).href;

/** Starts Node with `script`, in place of a server. */
async function startNode(script: string): Promise<SupervisedProcess> {
  const logFile = join(await tempDir(), 'log');
  return SupervisedProcess.start({ command: process.execPath, args: ['-e', script], logFile });
}

const idle = 'setInterval(() => {}, 1000)';

describe('SupervisedProcess', () => {
  it('runs a command, keeps its output, and tells how it ended', async () => {
    const child = await startNode("console.log('one'); console.error('two'); process.exitCode = 3");
    expect(await child.exited).toBe('code 3');
    expect(child.running).toBe(false);
    expect((await child.logTail()).split('\n').sort()).toEqual(['one', 'two']);
    expect(await child.logTail(1)).not.toContain('\n');
  });

  it('rejects with the command when it cannot be run', async () => {
    const logFile = join(await tempDir(), 'log');
    const start = SupervisedProcess.start({ command: '/no/such/server', args: [], logFile });
    await expect(start).rejects.toThrow(/Could not run \/no\/such\/server: .*ENOENT/);
  });

  it('stops a process by SIGTERM, and by SIGKILL when it ignores SIGTERM', async () => {
    const willing = await startNode(idle);
    await willing.stop();
    expect(await willing.exited).toBe('signal SIGTERM');
    const deaf = await startNode(`process.on('SIGTERM', () => {}); ${idle}; console.log('ready')`);
    await until(async () => (await deaf.logTail()) === 'ready');
    await deaf.stop({ graceMs: 20 });
    expect(await deaf.exited).toBe('signal SIGKILL');
    expect(isAlive(deaf.pid)).toBe(false);
  });

  it('stops a paused process', async () => {
    const child = await startNode(idle);
    child.kill('SIGSTOP');
    await child.stop();
    expect(child.running).toBe(false);
  });

  it('can be stopped twice', async () => {
    const child = await startNode(idle);
    await Promise.all([child.stop(), child.stop()]);
    await child.stop();
    expect(child.running).toBe(false);
  });

  it('ends its process, a paused one too, when the starter is killed, and removes the folder', async () => {
    const dir = await tempDir();
    const data = join(dir, 'data');
    await mkdir(data);
    const starter = join(dir, 'starter.ts');
    const options = `{ command: process.execPath, args: ['-e', ${JSON.stringify(idle)}], logFile: ${JSON.stringify(join(data, 'log'))}`;
    await writeFile(
      starter,
      `import { SupervisedProcess } from ${JSON.stringify(supervisedProcessModule)};
const running = await SupervisedProcess.start(${options}, removeDirWhenOrphaned: ${JSON.stringify(data)} });
const paused = await SupervisedProcess.start(${options} });
paused.kill('SIGSTOP');
console.log(JSON.stringify([running.pid, paused.pid]));
${idle};
`,
    );
    const parent = spawn(process.execPath, [starter], { cwd: fileURLToPath(new URL('../../..', import.meta.url)) });
    const [line] = await once(parent.stdout, 'data');
    const pids: number[] = JSON.parse(String(line));
    expect(pids.map(isAlive)).toEqual([true, true]);
    parent.kill('SIGKILL');
    await until(() => !pids.some(isAlive));
    await until(() =>
      access(data).then(
        () => false,
        () => true,
      ),
    );
    expect(pids.map(isAlive)).toEqual([false, false]);
  });
});

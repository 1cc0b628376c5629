import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pollUntil } from '../../support/poll-until.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { NodeMachine } from './support/node-machine.ts';
import { whyNoMachine } from './support/why-no-machine.ts';

let machine: NodeMachine;
let shared: string;

beforeAll(async () => {
  const reason = await whyNoMachine();
  if (reason !== undefined) throw new Error(`not run: ${reason}`);
  shared = await mkdtemp(join(tmpdir(), 'machine-shared-'));
  machine = await NodeMachine.start({ shared: [shared] });
});

afterAll(async () => {
  await machine?.stop();
  await rm(shared, { recursive: true, force: true });
});

/** The kernels on this machine whose disk lies in a folder. */
async function kernelsOf(folder: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return commands.filter((command) => command.includes(`ubd0=${folder}/disk.img`));
}

describe('the machine', () => {
  it('is run by systemd, and has cgroups of version 2 alone', async () => {
    expect(await machine.read(['cat', '/proc/1/comm'])).toBe('systemd');
    expect(await machine.read(['systemctl', 'is-system-running', '--wait'])).toBe('running');
    expect(await machine.read(['stat', '-fc', '%T', '/sys/fs/cgroup'])).toBe('cgroup2fs');
    expect(await machine.read(['cat', '/sys/fs/cgroup/cgroup.controllers'])).toBe('cpu io memory pids');
  });

  it('has a logind that gives inhibitors', async () => {
    const held = await machine.read(['systemd-inhibit', '--what=shutdown', '--mode=delay', 'systemd-inhibit', '--list'], {
      cwd: '/',
    });
    expect(held).toContain('shutdown');
  });

  it('runs a command with its folder, its variables and its words as they are, and gives its exit code', async () => {
    const words = ["it's", '$HOME', 'a b', ''];
    const script = 'pwd; echo "$WHO"; printf "<%s>" "$@"; echo oh >&2; exit 7';
    expect(await machine.run(['sh', '-c', script, 'sh', ...words], { cwd: shared, env: { WHO: 'me & you' } })).toEqual({
      code: 7,
      stdout: `${shared}\nme & you\n<it's><$HOME><a b><>`,
      stderr: 'oh\n',
    });
  });

  it('shares folders with this machine, and nothing of its network', async () => {
    await machine.read(['sh', '-c', 'echo inside > file'], { cwd: shared });
    expect(await readFile(join(shared, 'file'), 'utf8')).toBe('inside\n');
    const server = createServer().listen(0, '0.0.0.0');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    expect((await machine.run(['nc', '-z', '-w', '2', '10.0.2.1', String(port)])).code).toBe(1);
    server.close();
  });

  it('reaches what runs outside in its network', async () => {
    const serve = 'require("net").createServer((s) => s.end("hello")).listen(80, () => console.log("up"))';
    const server = machine.spawnOutside([process.execPath, '-e', serve], { stdio: ['ignore', 'pipe', 'inherit'] });
    if (server.stdout === null) throw new Error('no output');
    await once(server.stdout, 'data');
    expect(await machine.read(['nc', '-d', '10.0.2.1', '80'])).toBe('hello');
    server.kill('SIGKILL');
    await once(server, 'exit');
  });

  it('stands beside another, which has its own disk and network, and takes what it has outside with it', async () => {
    const other = await NodeMachine.start({ shared: [], memory: '512M' });
    const outside = other.spawnOutside(['sleep', '600'], { cwd: '/' });
    const outsideEnded = once(outside, 'exit');
    try {
      await machine.read(['touch', '/root/mine']);
      expect((await other.run(['test', '-e', '/root/mine'])).code).toBe(1);
    } finally {
      await other.stop();
    }
    await outsideEnded;
    expect(await kernelsOf(other.folder)).toEqual([]);
    expect(await machine.read(['cat', '/etc/hostname'])).toBe('node-machine');
  });

  it.each([
    ['in order', { cut: false }],
    ['as when the power fails', { cut: true }],
  ])('boots again from its disk, %s', async (_, how) => {
    await machine.read(['sh', '-c', 'echo kept > /root/kept && sync && touch /run/lost']);
    await machine.reboot(how);
    expect(await machine.read(['sh', '-c', 'cat /root/kept; ls /run/lost 2>&1; ls "$1"', 'sh', shared])).toContain(
      'kept\nls: cannot access',
    );
    expect((await machine.run(['ls', join(shared, 'file')])).code).toBe(0);
  });

  it('ends with the process that started it, also when that is killed', async () => {
    const folder = join(await tempDir(), 'm');
    const code = `const { NodeMachine } = await import('${new URL('support/node-machine.ts', import.meta.url)}');
      await NodeMachine.start({ folder: '${folder}', shared: [], memory: '512M' }); console.log('up'); await new Promise(() => setInterval(() => {}, 1000));`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    expect((await kernelsOf(folder)).length).toBeGreaterThan(0);
    child.kill('SIGKILL');
    await pollUntil('its kernel has ended', async () => (await kernelsOf(folder)).length === 0, { withinMs: 10_000 });
  });
});

import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { safeClock } from '../../../../src/base/clock.ts';
import { NodePluginRegistry } from '../../../../src/kubelet/registration/node-plugin-registry.ts';
import type { PluginHandler, PluginInfo, PluginRegistration } from '../../../../src/kubelet/registration/plugin-registration.ts';
import { findSockets } from '../../../../src/kubelet/registration/plugin-sockets.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { until } from '../../../support/until.ts';

async function socketAt(path: string): Promise<Server> {
  await mkdir(dirname(path), { recursive: true });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
  return server;
}

const infoOf = (name: string): PluginInfo => ({
  type: 'CSIPlugin',
  name,
  endpoint: '/run/csi.sock',
  supportedVersions: ['1.0.0'],
});

/** A registry whose plugins answer as the test says, by the path of their socket. */
async function setUp() {
  const folder = join(await tempDir(), 'r');
  const clock = new FakeClock();
  const infos = new Map<string, PluginInfo | Promise<PluginInfo>>();
  const asked: string[] = [];
  const told: string[] = [];
  const registered: string[] = [];
  const logs: string[] = [];
  const handler: PluginHandler & { takesInstances?: boolean } = {
    validate: ({ supportedVersions }) => {
      if (supportedVersions.length === 0) throw new Error('no version');
    },
    register: async ({ name }) => void registered.push(`+${name}`),
    deregister: async ({ name }) => void registered.push(`-${name}`),
  };
  const connect = (path: string): PluginRegistration => ({
    getInfo: async () => {
      asked.push(path);
      const info = infos.get(path);
      if (info === undefined) throw new Error('connection refused');
      return info;
    },
    notify: async ({ registered: ok, error }) => void told.push(ok ? 'ok' : error),
    close: () => {},
  });
  const note = (fields: { err?: unknown }, message: string): void => void logs.push(`${message} ${fields.err}`);
  const logger = { debug: () => {}, info: () => {}, warn: note, error: note };
  const options = { folder, connect, handlers: { CSIPlugin: handler }, clock: safeClock(clock), logger };
  const registry = new NodePluginRegistry(options);
  onTestFinished(() => registry.stop());
  /** Looks happen until the condition holds. */
  const eventually = (condition: () => boolean): Promise<void> =>
    until(async () => {
      await clock.advance(100);
      return condition();
    });
  return { folder, clock, infos, asked, told, registered, logs, handler, registry, eventually };
}

describe('the sockets of plugins', () => {
  it('are those in the folder and below, without links that lead elsewhere, hidden ones and plain files', async () => {
    const folder = await tempDir();
    await socketAt(join(folder, 'a.sock'));
    await socketAt(join(folder, 'deep', 'b.sock'));
    await socketAt(join(folder, '.hidden.sock'));
    await socketAt(join(folder, '.in', 'c.sock'));
    await writeFile(join(folder, 'file'), '');
    await symlink('/etc/passwd', join(folder, 'to-file'));
    await symlink('/tmp', join(folder, 'to-folder'));
    await symlink(join(folder, 'a.sock'), join(folder, 'to-socket'));
    await symlink('loop', join(folder, 'loop'));
    const found = await findSockets(folder);
    expect(found.map(({ path }) => path.slice(folder.length + 1))).toEqual(['a.sock', 'deep/b.sock', 'to-socket']);
  });

  it('are refused where there are more files than anybody has', async () => {
    const folder = await tempDir();
    for (let n = 0; n <= 2000; n += 1) await writeFile(join(folder, String(n)), '');
    await expect(findSockets(folder)).rejects.toThrow('has more than 2000 files and folders');
  });
});

describe('the registry of plugins', () => {
  it('registers a plugin, and deregisters it when its socket goes', async () => {
    const test = await setUp();
    const path = join(test.folder, 'a.sock');
    test.infos.set(path, infoOf('a'));
    test.registry.start();
    const socket = await socketAt(path);
    await test.eventually(() => test.registry.registered.length === 1);
    expect([test.registered, test.told]).toEqual([['+a'], ['ok']]);
    socket.close();
    await test.eventually(() => test.registry.registered.length === 0);
    expect(test.registered).toEqual(['+a', '-a']);
  });

  it('registers anew a socket that was made anew between two looks', async () => {
    const test = await setUp();
    const path = join(test.folder, 'a.sock');
    test.infos.set(path, infoOf('a'));
    test.registry.start();
    await socketAt(path);
    await test.eventually(() => test.registered.length === 1);
    await socketAt(`${path}.new`);
    await rename(`${path}.new`, path);
    await test.eventually(() => test.registered.length === 3);
    expect(test.registered).toEqual(['+a', '-a', '+a']);
  });

  it('lets one socket have a name, and the next one only after it', async () => {
    const test = await setUp();
    const [one, other] = [join(test.folder, 'a.sock'), join(test.folder, 'b.sock')];
    for (const path of [one, other]) test.infos.set(path, infoOf('same'));
    const first = await socketAt(one);
    test.registry.start();
    await test.eventually(() => test.registered.length === 1);
    await socketAt(other);
    await test.eventually(() => test.told.length === 2);
    expect(test.told[1]).toBe(`another plugin with the name same is registered at socket ${one}`);
    first.close();
    await test.eventually(() => test.registered.length === 3);
    expect(test.registered).toEqual(['+same', '-same', '+same']);
  });

  it('lets several sockets have a name of a type that takes instances, each with an endpoint of its own', async () => {
    const test = await setUp();
    test.handler.takesInstances = true;
    const paths = ['a', 'b', 'c'].map((name) => join(test.folder, `${name}.sock`));
    for (const path of paths) test.infos.set(path, { ...infoOf('same'), endpoint: path });
    test.infos.set(paths[2] ?? '', { ...infoOf('same'), endpoint: paths[0] ?? '' });
    const sockets = [];
    for (const path of paths) sockets.push(await socketAt(path));
    test.registry.start();
    await test.eventually(() => test.told.length === 3);
    expect([...test.told].sort()).toEqual([`endpoint ${paths[0]} is already registered for the plugin same`, 'ok', 'ok']);
    sockets[1]?.close();
    await test.eventually(() => test.registered.includes('-same'));
    expect(test.registry.registered.map(({ endpoint }) => endpoint)).toEqual([paths[0]]);
  });

  it('tells a plugin why it is not registered, tries again later and later, and says so', async () => {
    const test = await setUp();
    const path = join(test.folder, 'a.sock');
    test.infos.set(path, { ...infoOf('a'), type: 'TeaPot' });
    await socketAt(path);
    test.registry.start();
    await test.eventually(() => test.told.length === 1);
    expect(test.told).toEqual([`no handler registered for plugin type: TeaPot at socket ${path}`]);
    expect(test.registry.troubles()).toMatchObject([{ socketPath: path, attempt: 1, message: test.told[0] }]);
    await test.eventually(() => test.told.length === 4);
    const [{ retryAt = 0 } = {}] = test.registry.troubles();
    expect(retryAt - test.clock.now()).toBeGreaterThan(3000);
    test.infos.set(path, infoOf('a'));
    await test.eventually(() => test.registered.length === 1);
    expect(test.registry.troubles()).toEqual([]);
  });

  it.each([
    ['no name', { name: '' }, 'the plugin has no name that is one: ""'],
    ['a name without end', { name: 'x'.repeat(1000) }, 'the plugin has no name that is one'],
    ['an endpoint that is no path', { endpoint: 'tcp://1.2.3.4' }, 'the plugin names no path of a socket'],
    ['versions without end', { supportedVersions: Array(100).fill('1') }, 'the plugin names more versions'],
  ])('refuses a plugin with %s', async (_, part, words) => {
    const test = await setUp();
    const path = join(test.folder, 'a.sock');
    test.infos.set(path, { ...infoOf('a'), ...part });
    await socketAt(path);
    test.registry.start();
    await test.eventually(() => test.logs.length > 0);
    expect(test.logs[0]).toContain(words);
    expect(test.registered).toEqual([]);
  });

  it('lets no plugin wait for one that gives no answer', async () => {
    const test = await setUp();
    const [silent, well] = [join(test.folder, 'a.sock'), join(test.folder, 'b.sock')];
    test.infos.set(silent, new Promise(() => {}));
    test.infos.set(well, infoOf('b'));
    await socketAt(silent);
    await socketAt(well);
    test.registry.start();
    await test.eventually(() => test.registered.length === 1);
    await test.eventually(() => test.registry.troubles().length === 1);
    expect(test.registry.troubles()[0]?.message).toBe('no answer within 10 s');
  });

  it('takes back the registration of a plugin that does not hear of it', async () => {
    const test = await setUp();
    const path = join(test.folder, 'a.sock');
    test.infos.set(path, infoOf('a'));
    const { push } = test.told;
    test.told.push = () => {
      throw new Error('gone');
    };
    await socketAt(path);
    test.registry.start();
    await test.eventually(() => test.logs.length === 1);
    expect(test.registered.slice(0, 2)).toEqual(['+a', '-a']);
    expect(test.logs[0]).toContain('the plugin a did not take its registration: gone');
    test.told.push = push;
    await test.eventually(() => test.registry.registered.length === 1);
    expect(test.registered).toEqual(['+a', '-a', '+a']);
  });

  it('keeps what is registered while the folder cannot be looked at', async () => {
    const test = await setUp();
    const path = join(test.folder, 'a.sock');
    test.infos.set(path, infoOf('a'));
    await socketAt(path);
    test.registry.start();
    await test.eventually(() => test.registered.length === 1);
    await rename(test.folder, `${test.folder}-away`);
    await writeFile(test.folder, 'no folder');
    await test.eventually(() => test.registry.failing !== undefined);
    expect(test.registered).toEqual(['+a']);
    await rm(test.folder);
    await rename(`${test.folder}-away`, test.folder);
    await test.eventually(() => test.registry.failing === undefined);
    expect([test.registered, test.asked.length]).toEqual([['+a'], 1]);
  });
});

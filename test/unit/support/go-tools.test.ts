import { chmod, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type GoToolsOptions, goTool, goToolsDir, serverBinaries } from '../../support/go-tools.ts';
import { tempDir } from '../../support/temp-dir.ts';

interface FakeGo extends GoToolsOptions {
  readonly dir: string;
  readonly moduleDir: string;
  readonly lines: string[];
  /** The `go` commands that ran. */
  runs(): Promise<string[]>;
}

/** A module of two sources, and a `go` that logs its command and, unless it fails, writes the file after `-o`. */
async function fakeGo({ fails = false } = {}): Promise<FakeGo> {
  const dir = await tempDir();
  const moduleDir = join(dir, 'peer');
  await mkdir(moduleDir);
  for (const file of ['go.sum', 'main.go', 'oracle_test.go']) await writeFile(join(moduleDir, file), `${file} 1\n`);
  const script = `#!/bin/sh
echo "CGO_ENABLED=$CGO_ENABLED $*" >> '${dir}/runs'
while [ "$1" != -o ]; do shift; done
echo half > "$2"
${fails ? 'echo no such package >&2; exit 3' : 'chmod +x "$2"'}
`;
  await writeFile(join(dir, 'go'), script);
  await chmod(join(dir, 'go'), 0o755);
  const lines: string[] = [];
  return {
    dir,
    moduleDir,
    lines,
    go: join(dir, 'go'),
    env: { PATH: process.env.PATH, XDG_CACHE_HOME: join(dir, 'cache') },
    report: (line) => lines.push(line),
    runs: async () => (await readFile(join(dir, 'runs'), 'utf8').catch(() => '')).split('\n').filter((line) => line !== ''),
  };
}

describe('goTool', () => {
  it("builds a missing binary into the user's cache once, and logs it", async () => {
    const go = await fakeGo();
    const file = await goTool('etcd', go);
    expect(file).toBe(join(await goToolsDir(go), 'etcd'));
    expect(dirname(file)).toMatch(/cache\/pod-status-manager\/[0-9a-f]{16}$/);
    expect(await goTool('etcd', go)).toBe(file);
    const runs = await go.runs();
    expect(runs).toHaveLength(1);
    expect(runs[0]).toMatch(/^CGO_ENABLED=0 build -trimpath -ldflags -s -w -o \S+ go\.etcd\.io\/etcd\/server\/v3$/);
    expect(go.lines).toEqual([expect.stringContaining('building etcd'), expect.stringMatching(/^built etcd in \d+ s$/)]);
  });

  it('builds once for two callers at the same time', async () => {
    const go = await fakeGo();
    const files = await Promise.all([goTool('kube-apiserver', go), goTool('kube-apiserver', go)]);
    expect(new Set(files).size).toBe(1);
    expect(await go.runs()).toHaveLength(1);
  });

  it('leaves neither a partial file nor a lock after a failed build, and names the command', async () => {
    const go = await fakeGo({ fails: true });
    const message = /Could not build etcd: it ended with code 3\nno such package\nThe command: cd .*CGO_ENABLED=0 .*go build /;
    await expect(goTool('etcd', go)).rejects.toThrow(message);
    expect(await readdir(await goToolsDir(go))).toEqual([]);
  });

  it('names the command and what to install when Go is missing', async () => {
    const go = { ...(await fakeGo()), go: 'no-such-go' };
    const refusal = goTool('peer', go);
    await expect(refusal).rejects.toThrow(/`no-such-go` was not found\nThe command: cd .*no-such-go build -o \S+ \./);
    await expect(refusal).rejects.toThrow('It needs Go 1.26 or newer');
  });

  it('takes over the lock of a process that died', async () => {
    const go = await fakeGo();
    const lock = join(await goToolsDir(go), '.lock');
    await mkdir(dirname(lock), { recursive: true });
    // No process has this id: it is above the largest id on Linux and macOS.
    await writeFile(lock, '99999999\n');
    await utimes(lock, 0, 0);
    expect(basename(await goTool('etcd', go))).toBe('etcd');
    expect(await readdir(dirname(lock))).toEqual(['etcd']);
  });

  it('names the binaries of peer and oracle after a hash of their sources', async () => {
    const go = await fakeGo();
    const names = async (): Promise<string[]> => [basename(await goTool('peer', go)), basename(await goTool('oracle', go))];
    const [peer, oracle] = await names();
    expect(peer).toMatch(/^peer-[0-9a-f]{8}$/);
    expect(oracle).toMatch(/^oracle-[0-9a-f]{8}\.test$/);
    await writeFile(join(go.moduleDir, 'oracle_test.go'), 'changed\n');
    const [samePeer, otherOracle] = await names();
    expect(samePeer).toBe(peer);
    expect(otherOracle).not.toBe(oracle);
    await writeFile(join(go.moduleDir, 'main.go'), 'changed\n');
    expect((await names())[0]).not.toBe(peer);
  });

  it('names the binary of agent after a hash of the shared harness, too', async () => {
    const go = await fakeGo();
    const [harness, overlay] = [join(go.dir, 'harness'), join(go.moduleDir, 'overlay.sh')];
    await mkdir(harness);
    await writeFile(join(harness, 'harness.go'), 'one\n');
    await writeFile(overlay, '#!/bin/sh\n');
    await chmod(overlay, 0o755);
    const before = basename(await goTool('agent', go));
    expect(before).toMatch(/^agent-[0-9a-f]{8}\.test$/);
    await writeFile(join(harness, 'harness.go'), 'two\n');
    expect(basename(await goTool('agent', go))).not.toBe(before);
  });

  it('builds again when the dependencies change', async () => {
    const go = await fakeGo();
    const before = await goTool('etcd', go);
    await writeFile(join(go.moduleDir, 'go.sum'), 'changed\n');
    expect(await goTool('etcd', go)).not.toBe(before);
    expect(await go.runs()).toHaveLength(2);
  });
});

describe('serverBinaries', () => {
  it('uses both from KUBEBUILDER_ASSETS and builds nothing', async () => {
    const go = await fakeGo();
    const assets = join(go.dir, 'assets');
    await mkdir(assets);
    for (const name of ['etcd', 'kube-apiserver']) await writeFile(join(assets, name), '', { mode: 0o755 });
    const env = { ...go.env, KUBEBUILDER_ASSETS: assets };
    expect(await serverBinaries({ ...go, env })).toEqual({
      etcd: join(assets, 'etcd'),
      kubeApiserver: join(assets, 'kube-apiserver'),
    });
    expect(await go.runs()).toEqual([]);
  });

  it('builds both when KUBEBUILDER_ASSETS has only one', async () => {
    const go = await fakeGo();
    const assets = join(go.dir, 'assets');
    await mkdir(assets);
    await writeFile(join(assets, 'etcd'), '', { mode: 0o755 });
    const binaries = await serverBinaries({ ...go, env: { ...go.env, KUBEBUILDER_ASSETS: assets } });
    const dir = await goToolsDir(go);
    expect(binaries).toEqual({ etcd: join(dir, 'etcd'), kubeApiserver: join(dir, 'kube-apiserver') });
  });
});

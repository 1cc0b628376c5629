import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { root } from '../../structure/source-tree.ts';
import { entryPointNames, toolPath } from './tools.ts';

const folder = inject('consumerFolder');
const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? 'no tarball');

function run(tool: readonly string[], args: readonly string[]): Promise<{ code: unknown; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [toolPath(...tool), ...args], { cwd: root, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, output: stdout + stderr });
    });
  });
}

describe('the tarball', () => {
  it('has nothing that publint warns of', async () => {
    const { code, output } = await run(['publint', 'src', 'cli.js'], [tarball, '--strict']);
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('All good!') });
  });

  // Every Node that the package takes can require ES modules; the resolution of Node 10 knows no `exports`.
  it('has types that each resolution finds, says are-the-types-wrong', async () => {
    const rules = ['--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm'];
    const { code, output } = await run(['@arethetypeswrong', 'cli', 'dist', 'index.js'], [tarball, ...rules, '--format', 'json']);
    const { analysis, problems } = JSON.parse(output);
    const entryPoints = Object.keys(analysis.entrypoints).filter((entryPoint) => entryPoint !== './package.json');
    expect(entryPoints.map((entryPoint) => posix.join('pod-status-manager', entryPoint))).toEqual(entryPointNames);
    const found = Object.values<{ kind: string; resolutionKind: string }[]>(problems).flat();
    const kinds = new Set(found.map(({ kind, resolutionKind }) => `${resolutionKind}: ${kind}`));
    expect({ code, kinds: [...kinds].sort() }).toEqual({
      code: 0,
      kinds: ['node10: NoResolution', 'node16-cjs: CJSResolvesToESM'],
    });
  });
});

describe('the repository', () => {
  it('has no unused file, export or dependency, says knip', async () => {
    const { code, output } = await run(['knip', 'bin', 'knip.js'], ['--config', 'test/real/consumers/knip.ts', '--no-progress']);
    expect({ code, output: output.trim() }).toEqual({ code: 0, output: '' });
  });
});

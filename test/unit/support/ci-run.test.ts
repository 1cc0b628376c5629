import { type ChildProcess, spawn } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { tempDir } from '../../support/temp-dir.ts';

const ciFolder = fileURLToPath(new URL('../../../.ci', import.meta.url));

interface Ci {
  readonly child: ChildProcess;
  /** Resolves when `text` is in the output; rejects when the run ends without it. */
  saw(text: string): Promise<void>;
  /** The exit code, the whole output and its last line. */
  readonly ended: Promise<{ lastLine: string; output: string; code: number | null }>;
}

const report = JSON.stringify({
  testResults: [{ name: 'x.test.ts', status: 'passed', assertionResults: [{ status: 'passed' }] }],
});
/** The steps that no test changes. In a run that reaches them, the only test of each passes. */
const others = ['soak', 'consumers', 'browser', 'docs', 'monitoring'];
/** The shell code of a step whose only test passes. */
const passes = `echo '${report}' >"$VITEST_JSON/report.json"`;

interface CiOptions {
  /** The shell code for `npm cit` and for `npm run test:cluster`. */
  readonly cit?: string;
  readonly cluster?: string;
  /** Changes the copy of .ci before the run. */
  readonly change?: (folder: string) => Promise<void>;
  readonly limitSeconds?: number;
  /** How long the counting may take. */
  readonly countSeconds?: number;
  /** The target of standard error. Default: the output, as in a CI's log. */
  readonly stderr?: string;
}

/** Starts a copy of .ci/run whose floors are 1, with an `npm` that runs the shell code of the steps. */
async function startCi({
  cit = passes,
  cluster = passes,
  change,
  limitSeconds = 60,
  countSeconds = 60,
  stderr = '&1',
}: CiOptions): Promise<Ci> {
  const folder = await tempDir();
  const bin = join(folder, 'bin');
  await mkdir(join(folder, '.ci'));
  await mkdir(bin);
  for (const name of ['run', 'count-tests.mjs']) await copyFile(join(ciFolder, name), join(folder, '.ci', name));
  const floors = ['checks', 'cluster', ...others].map((step) => `${step}: 1`);
  await writeFile(join(folder, '.ci/floors.mjs'), `export const floors = { ${floors} };`);
  const npm = `#!/bin/sh\nif [ "$1" = cit ]; then\n${cit}\nelif [ "$2" = test:cluster ]; then\n${cluster}\nelse\n${passes}\nfi\n`;
  await writeFile(join(bin, 'npm'), npm, { mode: 0o755 });
  await change?.(folder);
  const env = {
    ...process.env,
    PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`,
    CI_LIMIT_SECONDS: String(limitSeconds),
    CI_COUNT_SECONDS: String(countSeconds),
  };
  const child = spawn('sh', ['-c', `exec .ci/run 2>${stderr}`], { cwd: folder, env });
  let output = '';
  const waiting = new Set<() => void>();
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    for (const look of waiting) look();
  });
  const ended = new Promise<Awaited<Ci['ended']>>((resolve) => {
    child.on('close', (code) => resolve({ lastLine: output.trimEnd().split('\n').at(-1) ?? '', output, code }));
  });
  const saw = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (output.includes(text)) resolve();
      };
      waiting.add(look);
      look();
      child.on('close', () => reject(new Error(`Expected ${text} in the output, got:\n${output}`)));
    });
  return { child, saw, ended };
}

async function runCi(options: CiOptions): Ci['ended'] {
  return (await startCi(options)).ended;
}

describe('.ci/run', () => {
  it('ends with the counting line and 0 when all steps pass', async () => {
    const { output, code } = await runCi({});
    expect(output.endsWith('\n7 passed, 0 failed\n')).toBe(true);
    expect(code).toBe(0);
  });

  it('runs the second step after the first has failed', async () => {
    const { lastLine, output, code } = await runCi({ cit: 'echo no network >&2; exit 7' });
    expect({ lastLine, code }).toEqual({ lastLine: '6 passed, 1 failed', code: 1 });
    expect(output).toMatch(/no network[\s\S]*checks: 0 passed, 1 failed \(floor 1\); it ended with code 7/);
  });

  it.each([
    ['writes no report', 'exit 0'],
    ['writes a report that is no JSON', 'echo "{" >"$VITEST_JSON/report.json"'],
    ['does not exist', 'exec no-such-command'],
  ])('counts a step that %s', async (_what, cluster) => {
    expect(await runCi({ cluster })).toMatchObject({ lastLine: '6 passed, 1 failed', code: 1 });
  });

  it('prints the counting line on its own line when a step ends in the middle of a line', async () => {
    const answer = await runCi({ cluster: 'printf "1000 passed, "; exit 1', stderr: '/dev/null' });
    expect(answer).toMatchObject({ lastLine: '6 passed, 1 failed', code: 1 });
  });

  it.each([
    ['crashes', 'process.exit(3);'],
    ['is no JavaScript', '{'],
    ['prints something else', "console.log('2 passed, 0 failed, or so');"],
    ['prints nothing', ''],
    ['never ends', 'setInterval(() => {}, 1000);'],
    ['prints a line and never ends', "console.log('2 passed, 0 failed'); setInterval(() => {}, 1000);"],
    ['prints a line and crashes', "console.log('2 passed, 0 failed'); process.exit(3);"],
  ])('prints the counting line itself when the counting script %s', async (_what, code) => {
    const change = (folder: string) => writeFile(join(folder, '.ci/count-tests.mjs'), code);
    const answer = await runCi({ change, countSeconds: 2 });
    expect(answer).toMatchObject({ lastLine: '0 passed, 1 failed', code: 1 });
  });

  it('prints the line when there is no Node', async () => {
    const noNode = (folder: string) => writeFile(join(folder, 'bin/node'), '#!/bin/sh\nexit 127\n', { mode: 0o755 });
    expect(await runCi({ change: noNode })).toMatchObject({ lastLine: '0 passed, 1 failed', code: 1 });
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('ends at once on %s, and counts the steps that have ended', async (signal, code) => {
    const ci = await startCi({ cluster: 'echo under way; exec sleep 600' });
    await ci.saw('under way');
    ci.child.kill(signal);
    expect(await ci.ended).toMatchObject({ lastLine: '1 passed, 6 failed', code });
  });

  it('ends the running step and its children when a signal ends it', async () => {
    const ci = await startCi({ cluster: 'sleep 600 & echo "pids: $$ $!"; echo under way; wait' });
    await ci.saw('under way');
    ci.child.kill('SIGTERM');
    const { output } = await ci.ended;
    const pids = /^pids: (\d+) (\d+)$/m.exec(output)?.slice(1).map(Number) ?? [];
    expect(pids).toHaveLength(2);
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it('ends a step that hangs, and counts it as failed', async () => {
    const answer = await runCi({ cit: 'exec sleep 600', limitSeconds: 0.3 });
    expect(answer).toMatchObject({ lastLine: '0 passed, 7 failed', code: 143 });
    expect(answer.output).toContain('not done after 0.3 seconds');
  });

  it('lets no process left behind by a step write after the last line', async () => {
    const daemon = `const { spawn } = require('node:child_process');
      spawn('sh', ['-c', 'while sleep 0.05; do echo still here; done'], { detached: true, stdio: 'inherit' }).unref();`;
    const answer = await runCi({ cluster: `${passes}; node -e "${daemon}"` });
    expect(answer).toMatchObject({ lastLine: '7 passed, 0 failed', code: 0 });
  });
});

import { execFile, spawn } from 'node:child_process';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface GoBuild {
  readonly name: string;
  /** A script of the module that must run before; its error ends the build. */
  readonly prepare?: string;
  /** The arguments of `go` that write the file: `build -o FILE …`. */
  readonly args: (outputFile: string) => readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** How long a first build takes on two cores, for the progress line. */
  readonly usually: string;
}

export interface GoBuildContext {
  readonly go: string;
  /** The Go module's folder. */
  readonly moduleDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly report: (line: string) => void;
  readonly progressMs: number;
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`;
}

/** The command in the form of a shell line. */
function buildCommandLine(build: GoBuild, outputFile: string, { go, moduleDir }: GoBuildContext): string {
  const variables = Object.entries(build.env).map(([name, value]) => `${name}=${quote(value)}`);
  return `cd ${quote(moduleDir)} && ${[...variables, go, ...build.args(outputFile).map(quote)].join(' ')}`;
}

function runGo(build: GoBuild, outputFile: string, context: GoBuildContext): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(context.go, build.args(outputFile), {
      cwd: context.moduleDir,
      env: { ...context.env, ...build.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const keepTail = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-4000);
    };
    child.stdout.on('data', keepTail);
    child.stderr.on('data', keepTail);
    child.on('error', (error) => {
      const missing = 'code' in error && error.code === 'ENOENT';
      resolve(missing ? `\`${context.go}\` was not found` : error.message);
    });
    child.on('close', (code, signal) =>
      resolve(code === 0 ? undefined : `it ended with ${signal ?? `code ${code}`}\n${output.trim()}`),
    );
  });
}

/**
 * Builds `outputFile` and reports its progress. It writes another file and renames that, so a crash leaves no partial
 * `outputFile`. The error names the command and what to install.
 */
export async function goBuild(build: GoBuild, outputFile: string, context: GoBuildContext): Promise<void> {
  const started = performance.now();
  const seconds = (): number => Math.round((performance.now() - started) / 1000);
  await mkdir(dirname(outputFile), { recursive: true });
  const halfFile = `${outputFile}.${process.pid}.partial`;
  context.report(`building ${build.name} (the first time usually ${build.usually} on two cores) ...`);
  const progress = setInterval(() => context.report(`building ${build.name}: ${seconds()} s`), context.progressMs);
  try {
    if (build.prepare !== undefined) await run(build.prepare, { cwd: context.moduleDir, env: context.env });
    const failure = await runGo(build, halfFile, context);
    if (failure !== undefined) throw new Error(failureText(build, outputFile, context, failure));
    await rename(halfFile, outputFile);
    context.report(`built ${build.name} in ${seconds()} s`);
  } finally {
    clearInterval(progress);
    await rm(halfFile, { force: true });
  }
}

function failureText(build: GoBuild, outputFile: string, context: GoBuildContext, failure: string): string {
  return [
    `Could not build ${build.name}: ${failure}`,
    `The command: ${buildCommandLine(build, outputFile, context)}`,
    'It needs Go 1.26 or newer (https://go.dev/dl/) and, the first time, the Go module proxy.',
    'etcd and kube-apiserver may also be ready-made: set KUBEBUILDER_ASSETS to the folder that has both.',
  ].join('\n');
}

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { inject } from 'vitest';
import { goTool } from '../../../support/go-tools.ts';
import { pollUntil } from '../../../support/poll-until.ts';

/** How kubectl speaks with the apiserver: over WebSockets, as it does by itself, or over SPDY. */
export type KubectlProtocol = 'WebSockets' | 'SPDY';

export interface KubectlResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface KubectlOptions {
  readonly protocol?: KubectlProtocol;
  /** What it reads; nothing when absent. */
  readonly input?: string | Buffer;
  /** True: it has a terminal of 31 lines of 97 characters, that of `script`, which takes both outputs together. */
  readonly terminal?: boolean;
}

const withoutWebSockets = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' };

/** A `kubectl` that runs. */
export class RunningKubectl implements AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<KubectlResult>;
  #stdout = '';
  #stderr = '';

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.child = child;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    child.stdin.on('error', () => {});
    this.ended = once(child, 'close').then(([code]) => ({ code, stdout: this.#stdout, stderr: this.#stderr }));
  }

  static async start(args: readonly string[], { protocol = 'WebSockets', terminal = false }: KubectlOptions = {}) {
    const { kubeconfig } = inject('virtualKubeletWorld');
    const words = [await goTool('kubectl'), `--kubeconfig=${kubeconfig}`, ...args];
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const inTerminal = ['script', '--quiet', '--return', '--command', `stty cols 97 rows 31; ${quoted}`, '/dev/null'];
    const [command = '', ...rest] = terminal ? inTerminal : words;
    const env = { ...process.env, ...(protocol === 'SPDY' && withoutWebSockets) };
    return new RunningKubectl(spawn(command, rest, { env, stdio: 'pipe' }));
  }

  get stderr(): string {
    return this.#stderr;
  }

  get stdout(): string {
    return this.#stdout;
  }

  /** Resolves once what it has written to its output matches, to the match. */
  says(words: RegExp): Promise<RegExpExecArray> {
    const seen = () => ({ stdout: this.#stdout, stderr: this.#stderr, code: this.child.exitCode });
    return pollUntil(`kubectl says ${words}`, () => words.exec(this.#stdout) ?? false, { withinMs: 20_000, seen });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}

/** Runs `kubectl` to its end. */
export async function kubectl(args: readonly string[], options: KubectlOptions = {}): Promise<KubectlResult> {
  const running = await RunningKubectl.start(args, options);
  running.child.stdin.end(options.input ?? '');
  const late = setTimeout(() => running.child.kill('SIGKILL'), 30_000);
  try {
    return await running.ended;
  } finally {
    clearTimeout(late);
  }
}

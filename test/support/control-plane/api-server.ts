import { join } from 'node:path';
import { apiServerArgs, type ControlPlaneLayout } from './layout.ts';
import { waitUntilReady } from './readyz.ts';
import { SupervisedProcess } from './supervised-process.ts';

export interface ApiServerParts {
  readonly command: string;
  readonly layout: ControlPlaneLayout;
  /** Its log file has this name. */
  readonly name: string;
  readonly port: number;
  /** Where it finds etcd. */
  readonly etcdUrl: string;
  readonly args: readonly string[];
  /** Its folder goes when this process dies without stopping it. */
  readonly removeDirWhenOrphaned: string | undefined;
  readonly readCa: () => Promise<string | undefined>;
  /** Why it cannot come up any more, though it runs. */
  readonly failed: () => string | undefined;
  readonly startTimeoutMs: number;
}

/** One kube-apiserver of a control plane: its port, certificate and flags stay while its process comes and goes. */
export class ApiServer {
  readonly url: string;
  readonly #parts: ApiServerParts;
  #process: SupervisedProcess | undefined;

  constructor(parts: ApiServerParts) {
    this.#parts = parts;
    this.url = `https://127.0.0.1:${parts.port}`;
  }

  /** Undefined while it is down. */
  get pid(): number | undefined {
    return this.#running?.pid;
  }

  /** Resolves once it is ready. Rejects with the reason why it is not, and the end of its log. */
  async start(): Promise<void> {
    const { command, layout, name, port, etcdUrl, args, removeDirWhenOrphaned } = this.#parts;
    this.#process =
      this.#running ??
      (await SupervisedProcess.start({
        command,
        args: apiServerArgs(layout, port, etcdUrl, args),
        logFile: join(layout.dir, `${name}.log`),
        removeDirWhenOrphaned,
      }));
    await this.untilReady();
  }

  /** Resolves once it is ready; see {@link start}. */
  async untilReady(): Promise<void> {
    const { layout, name, readCa, failed, startTimeoutMs } = this.#parts;
    const failure = await waitUntilReady({
      url: this.url,
      token: layout.token,
      readCa,
      failed: () => (this.#running === undefined ? `${name} has ended` : failed()),
      timeoutMs: startTimeoutMs,
    });
    if (failure !== undefined) throw new Error(`${failure}\n--- ${name}\n${await this.#process?.logTail()}`);
  }

  async restart({ signal = 'SIGTERM' }: { signal?: NodeJS.Signals } = {}): Promise<void> {
    await this.end(signal);
    await this.start();
  }

  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    await this.#process?.stop({ signal });
  }

  /** Connections stay open and are not answered. */
  pause(): void {
    this.#running?.kill('SIGSTOP');
  }

  resume(): void {
    this.#running?.kill('SIGCONT');
  }

  get #running(): SupervisedProcess | undefined {
    return this.#process?.running ? this.#process : undefined;
  }
}

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { type ServerBinaries, serverBinaries } from '../go-tools.ts';
import { kubeconfigYaml } from './kubeconfig.ts';
import { type ControlPlaneLayout, layOut } from './layout.ts';
import { waitUntilReady } from './readyz.ts';
import { SupervisedProcess } from './supervised-process.ts';

export interface ControlPlaneOptions {
  /** Kept at stop, and taken up again by a later start. Default: a temporary folder, removed at stop. */
  readonly dataDir?: string;
  /** Further flags of kube-apiserver. */
  readonly apiServerArgs?: readonly string[];
  /** No line on standard error while binaries are built. */
  readonly quiet?: boolean;
  readonly startTimeoutMs?: number;
}

type ServerName = 'etcd' | 'kube-apiserver';

class PortTakenError extends Error {}

/**
 * A real etcd and kube-apiserver on free loopback ports: no kubelet, no scheduler, no controllers. Both end with this
 * process, however it ends. The fault methods keep ports, certificates and data.
 */
export class ControlPlane implements AsyncDisposable {
  readonly #binaries: ServerBinaries;
  readonly #layout: ControlPlaneLayout;
  readonly #temporary: boolean;
  readonly #startTimeoutMs: number;
  readonly #servers = new Map<ServerName, SupervisedProcess>();
  #caPem = '';

  private constructor(binaries: ServerBinaries, layout: ControlPlaneLayout, temporary: boolean, startTimeoutMs: number) {
    this.#binaries = binaries;
    this.#layout = layout;
    this.#temporary = temporary;
    this.#startTimeoutMs = startTimeoutMs;
  }

  /** Resolves once /readyz says yes. The error of a start that failed carries the tail of the servers' logs; nothing is left behind. */
  static async start(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
    const binaries = await serverBinaries(options.quiet === true ? { report: () => {} } : {});
    for (let attempt = 1; ; attempt += 1) {
      const dir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'pod-status-manager-')));
      await mkdir(dir, { recursive: true });
      const layout = await layOut(dir, options.apiServerArgs);
      const controlPlane = new ControlPlane(binaries, layout, options.dataDir === undefined, options.startTimeoutMs ?? 60_000);
      try {
        await controlPlane.#launch('etcd');
        await controlPlane.startApiServer();
        return controlPlane;
      } catch (error) {
        await controlPlane.stop();
        // A free port is only known to have been free: another process may have taken it.
        if (!(error instanceof PortTakenError) || attempt === 3) throw error;
      }
    }
  }

  get url(): string {
    return this.#layout.url;
  }

  get etcdUrl(): string {
    return this.#layout.etcdUrl;
  }

  /** Of an administrator (system:masters). */
  get token(): string {
    return this.#layout.token;
  }

  /** Of a user the server knows and allows nothing. */
  get powerlessToken(): string {
    return this.#layout.powerlessToken;
  }

  get caPem(): string {
    return this.#caPem;
  }

  /** The servers' process ids; undefined while a server is down. */
  get pids(): { readonly etcd: number | undefined; readonly apiServer: number | undefined } {
    return { etcd: this.#running('etcd')?.pid, apiServer: this.#running('kube-apiserver')?.pid };
  }

  kubeconfigYaml(): string {
    const { url, token, powerlessToken } = this.#layout;
    return kubeconfigYaml({ url, token, powerlessToken, caPem: this.#caPem });
  }

  async writeKubeconfig(path: string): Promise<void> {
    await writeFile(path, this.kubeconfigYaml(), { mode: 0o600 });
  }

  /** A fresh `KubeConfig` of the administrator; `setCurrentContext('powerless')` makes it the other user's. */
  kubeConfig(): KubeConfig {
    const config = new KubeConfig();
    config.loadFromString(this.kubeconfigYaml());
    return config;
  }

  /** Resolves once a stopped or killed apiserver is ready again, on the same port and with the same certificate. */
  async startApiServer(): Promise<void> {
    const server = await this.#launch('kube-apiserver');
    await this.#waitUntilReady(server);
  }

  async restartApiServer({ signal = 'SIGTERM' }: { signal?: NodeJS.Signals } = {}): Promise<void> {
    await this.#end('kube-apiserver', signal);
    await this.startApiServer();
  }

  async killApiServer(): Promise<void> {
    await this.#end('kube-apiserver', 'SIGKILL');
  }

  /** Connections stay open and are not answered. */
  pauseApiServer(): void {
    this.#running('kube-apiserver')?.kill('SIGSTOP');
  }

  resumeApiServer(): void {
    this.#running('kube-apiserver')?.kill('SIGCONT');
  }

  pauseEtcd(): void {
    this.#running('etcd')?.kill('SIGSTOP');
  }

  resumeEtcd(): void {
    this.#running('etcd')?.kill('SIGCONT');
  }

  async killEtcd(): Promise<void> {
    await this.#end('etcd', 'SIGKILL');
  }

  /** Starts a killed etcd; resolves once the apiserver, if it runs, is ready with it. */
  async startEtcd(): Promise<void> {
    await this.#launch('etcd');
    const apiServer = this.#running('kube-apiserver');
    if (apiServer) await this.#waitUntilReady(apiServer);
  }

  /** Ends both servers and removes the temporary folder. A second call does nothing more. */
  async stop(): Promise<void> {
    // Without a folder to come back to there is nothing to end gracefully.
    const signal = this.#temporary ? 'SIGKILL' : 'SIGTERM';
    await this.#end('kube-apiserver', signal);
    await this.#end('etcd', signal);
    if (this.#temporary) await rm(this.#layout.dir, { recursive: true, force: true, maxRetries: 5 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #running(name: ServerName): SupervisedProcess | undefined {
    const server = this.#servers.get(name);
    return server?.running ? server : undefined;
  }

  async #launch(name: ServerName): Promise<SupervisedProcess> {
    const running = this.#running(name);
    if (running) return running;
    const server = await SupervisedProcess.start({
      command: name === 'etcd' ? this.#binaries.etcd : this.#binaries.kubeApiserver,
      args: name === 'etcd' ? this.#layout.etcdArgs : this.#layout.apiServerArgs,
      logFile: join(this.#layout.dir, `${name}.log`),
      removeDirWhenOrphaned: this.#temporary ? this.#layout.dir : undefined,
    });
    this.#servers.set(name, server);
    return server;
  }

  async #end(name: ServerName, signal: NodeJS.Signals): Promise<void> {
    await this.#servers.get(name)?.stop({ signal });
  }

  async #waitUntilReady(apiServer: SupervisedProcess): Promise<void> {
    const failure = await waitUntilReady({
      url: this.url,
      token: this.token,
      readCa: () => this.#readCa(),
      failed: () => {
        if (!apiServer.running) return 'kube-apiserver has ended';
        return this.#running('etcd') ? undefined : 'etcd has ended';
      },
      timeoutMs: this.#startTimeoutMs,
    });
    if (failure === undefined) return;
    const tails = await Promise.all([...this.#servers].map(async ([name, server]) => `--- ${name}\n${await server.logTail()}`));
    const message = `The control plane did not start: ${failure}\n${tails.join('\n')}`;
    throw message.includes('address already in use') ? new PortTakenError(message) : new Error(message);
  }

  async #readCa(): Promise<string | undefined> {
    const pem = await readFile(this.#layout.caFile, 'utf8').catch(() => '');
    // Serving certificate and authority: fewer than two means that the file is still being written.
    if (pem.split('-----END CERTIFICATE-----').length < 3) return undefined;
    this.#caPem = pem;
    return pem;
  }
}

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { type ServerBinaries, serverBinaries } from '../go-tools.ts';
import { ApiServer } from './api-server.ts';
import { freePorts } from './free-port.ts';
import { kubeconfigYaml } from './kubeconfig.ts';
import { type ControlPlaneLayout, layOut } from './layout.ts';
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

class PortTakenError extends Error {}

/**
 * A real etcd and kube-apiserver on free loopback ports: no kubelet, no scheduler, no controllers. All end with this
 * process, however it ends. The fault methods keep ports, certificates and data.
 */
export class ControlPlane implements AsyncDisposable {
  readonly #binaries: ServerBinaries;
  readonly #layout: ControlPlaneLayout;
  readonly #options: ControlPlaneOptions;
  readonly #apiServer: ApiServer;
  readonly #furtherApiServers: ApiServer[] = [];
  #etcd: SupervisedProcess | undefined;
  #caPem = '';

  private constructor(binaries: ServerBinaries, layout: ControlPlaneLayout, options: ControlPlaneOptions) {
    this.#binaries = binaries;
    this.#layout = layout;
    this.#options = options;
    this.#apiServer = this.#makeApiServer('kube-apiserver', layout.port, layout.etcdUrl);
  }

  /** Resolves once /readyz says yes. The error of a start that failed carries the tail of the servers' logs; nothing is left behind. */
  static async start(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
    const binaries = await serverBinaries(options.quiet === true ? { report: () => {} } : {});
    for (let attempt = 1; ; attempt += 1) {
      const dir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'pod-status-manager-')));
      await mkdir(dir, { recursive: true });
      const controlPlane = new ControlPlane(binaries, await layOut(dir), options);
      try {
        await controlPlane.#launchEtcd();
        await controlPlane.startApiServer();
        return controlPlane;
      } catch (error) {
        await controlPlane.stop();
        // A free port is only known to have been free: another process may have taken it.
        if (!(error instanceof PortTakenError) || attempt === 3) throw error;
      }
    }
  }

  /** Of the first apiserver. */
  get url(): string {
    return this.#apiServer.url;
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
    return { etcd: this.#runningEtcd?.pid, apiServer: this.#apiServer.pid };
  }

  kubeconfigYaml(): string {
    const { token, powerlessToken, nodeToken } = this.#layout;
    return kubeconfigYaml({ url: this.url, token, powerlessToken, nodeToken, caPem: this.#caPem });
  }

  async writeKubeconfig(path: string): Promise<void> {
    await writeFile(path, this.kubeconfigYaml(), { mode: 0o600 });
  }

  /** A fresh `KubeConfig` of the administrator; `setCurrentContext` makes it another user's: `powerless` or `node`. */
  kubeConfig(): KubeConfig {
    const config = new KubeConfig();
    config.loadFromString(this.kubeconfigYaml());
    return config;
  }

  /** Resolves once a stopped or killed apiserver is ready again, on the same port and with the same certificate. */
  async startApiServer(): Promise<void> {
    await explained(this.#apiServer.start(), () => this.#logTails());
  }

  async restartApiServer(options: { signal?: NodeJS.Signals } = {}): Promise<void> {
    await explained(this.#apiServer.restart(options), () => this.#logTails());
  }

  async killApiServer(): Promise<void> {
    await this.#apiServer.kill();
  }

  /** Connections stay open and are not answered. */
  pauseApiServer(): void {
    this.#apiServer.pause();
  }

  resumeApiServer(): void {
    this.#apiServer.resume();
  }

  /**
   * Resolves once another kube-apiserver is ready, over the same etcd, with the same certificate, users and flags. It may
   * reach etcd by another way, such as a relay. It ends with the control plane. Of a flag that `args` gives again the later one counts.
   */
  async startAnotherApiServer({
    etcdUrl = this.etcdUrl,
    args = [],
  }: {
    etcdUrl?: string;
    args?: readonly string[];
  } = {}): Promise<ApiServer> {
    const [port = 0] = await freePorts(1);
    const another = this.#makeApiServer(`kube-apiserver-${this.#furtherApiServers.length + 2}`, port, etcdUrl, args);
    this.#furtherApiServers.push(another);
    await explained(another.start(), () => this.#logTails());
    return another;
  }

  pauseEtcd(): void {
    this.#runningEtcd?.kill('SIGSTOP');
  }

  resumeEtcd(): void {
    this.#runningEtcd?.kill('SIGCONT');
  }

  async killEtcd(): Promise<void> {
    await this.#etcd?.stop({ signal: 'SIGKILL' });
  }

  /** Starts a killed etcd; resolves once each apiserver that runs is ready with it. */
  async startEtcd(): Promise<void> {
    await this.#launchEtcd();
    const running = [this.#apiServer, ...this.#furtherApiServers].filter(({ pid }) => pid !== undefined);
    await explained(Promise.all(running.map((apiServer) => apiServer.untilReady())), () => this.#logTails());
  }

  /** Ends all servers and removes the temporary folder. A second call does nothing more. */
  async stop(): Promise<void> {
    // Without a folder to come back to there is nothing to end gracefully.
    const signal = this.#temporaryDir === undefined ? 'SIGTERM' : 'SIGKILL';
    await Promise.all([this.#apiServer, ...this.#furtherApiServers].map((apiServer) => apiServer.end(signal)));
    await this.#etcd?.stop({ signal });
    if (this.#temporaryDir !== undefined) await rm(this.#temporaryDir, { recursive: true, force: true, maxRetries: 5 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  get #temporaryDir(): string | undefined {
    return this.#options.dataDir === undefined ? this.#layout.dir : undefined;
  }

  get #runningEtcd(): SupervisedProcess | undefined {
    return this.#etcd?.running ? this.#etcd : undefined;
  }

  async #launchEtcd(): Promise<void> {
    this.#etcd =
      this.#runningEtcd ??
      (await SupervisedProcess.start({
        command: this.#binaries.etcd,
        args: this.#layout.etcdArgs,
        logFile: join(this.#layout.dir, 'etcd.log'),
        removeDirWhenOrphaned: this.#temporaryDir,
      }));
  }

  #makeApiServer(name: string, port: number, etcdUrl: string, further: readonly string[] = []): ApiServer {
    const { apiServerArgs = [], startTimeoutMs = 60_000 } = this.#options;
    return new ApiServer({
      command: this.#binaries.kubeApiserver,
      layout: this.#layout,
      name,
      port,
      etcdUrl,
      args: [...apiServerArgs, ...further],
      removeDirWhenOrphaned: this.#temporaryDir,
      readCa: () => this.#readCa(),
      failed: () => (this.#runningEtcd === undefined ? 'etcd has ended' : undefined),
      startTimeoutMs,
    });
  }

  async #logTails(): Promise<string> {
    return `--- etcd\n${await this.#etcd?.logTail()}`;
  }

  async #readCa(): Promise<string | undefined> {
    const pem = await readFile(this.#layout.caFile, 'utf8').catch(() => '');
    // Serving certificate and authority: fewer than two means that the file is still being written.
    if (pem.split('-----END CERTIFICATE-----').length < 3) return undefined;
    this.#caPem = pem;
    return pem;
  }
}

/** The error of a start that failed says so first, and what the other servers logged last. */
async function explained(start: Promise<unknown>, logTails: () => Promise<string>): Promise<void> {
  try {
    await start;
  } catch (error) {
    const message = `The control plane did not start: ${error instanceof Error ? error.message : error}\n${await logTails()}`;
    throw message.includes('address already in use') ? new PortTakenError(message) : new Error(message);
  }
}

// Behaviour of pkg/kubelet/certificate/bootstrap/bootstrap.go and buildKubeletClientConfig in cmd/kubelet/app/server.go, v1.36.3.
import { isAbsolute } from 'node:path';
import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { onAbort } from '../../base/concurrency/aborts.ts';
import { errorText, invalidOption } from '../../base/errors.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { nodeNameOption } from '../../base/names.ts';
import { optionOfType, requireKnownOptions, requireMethods } from '../../base/options.ts';
import type { Problem } from '../../base/problem.ts';
import { safeRandom } from '../../base/random.ts';
import type { ClientConfig } from '../../client/kubeconfig/client-config.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { KubeTransport } from '../../client/transport/kube-transport.ts';
import { CertificateFolder } from './certificate-folder.ts';
import type { CertificateNames } from './certificate-names.ts';
import { clientPurpose } from './certificate-purpose.ts';
import { makeCertificateRequest } from './certificate-request.ts';
import type { CheckedCertificate } from './checked-certificate.ts';
import { clientCertificateOf, NodeKubeconfig, readKubeconfigFile, writeNodeKubeconfig } from './node-kubeconfig.ts';
import { RequestedCertificates } from './requested-certificates.ts';

/** How a node comes to its client certificate. */
export interface NodeClientCertificateOptions {
  /** The name of the node: the certificate is for the user `system:node:NAME`. */
  readonly nodeName: string;
  /** The file of the node's kubeconfig. */
  readonly kubeconfig: string;
  /**
   * The file of a kubeconfig that may ask for a certificate, with a token of the cluster. It is used where the node's kubeconfig is missing, or
   * its client certificate has ended; the node's kubeconfig is then written. Default: none.
   */
  readonly bootstrapKubeconfig?: string | undefined;
  /** The folder that keeps the certificate with its key, in the kubelet's file `kubelet-client-current.pem` with mode 0600. */
  readonly certificateFolder: string;
  /** True: another certificate is asked for after 70 to 90 % of the life of each. Default false. */
  readonly rotateCertificates?: boolean | undefined;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock | undefined;
  /** Where chance comes from: a number from 0 up to 1. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null | undefined;
}

const keepMs = 3_600_000;
const knownOptions = [
  ...['nodeName', 'kubeconfig', 'bootstrapKubeconfig', 'certificateFolder', 'rotateCertificates', 'clock', 'random', 'logger'],
];

/**
 * The client certificate of a node, as a kubelet has it: had by a CertificateSigningRequest of a bootstrap token (signer
 * `kubernetes.io/kube-apiserver-client-kubelet`), kept in a folder, and renewed. Every request that is sent with its kubeconfig after a renewal
 * has the new certificate. A certificate that has ended is asked for again with the bootstrap kubeconfig, which is read anew each time.
 *
 * @example
 * ```ts
 * import { NodeClientCertificate } from 'pod-status-manager/certificates';
 *
 * const certificate = new NodeClientCertificate({
 *   nodeName: 'node-1',
 *   kubeconfig: '/etc/kubernetes/kubelet.conf',
 *   bootstrapKubeconfig: '/etc/kubernetes/bootstrap-kubelet.conf',
 *   certificateFolder: '/var/lib/kubelet/pki',
 *   rotateCertificates: true,
 * });
 * console.log(certificate.problem()); // undefined
 * // new NodeAgent({ kubeConfig: await certificate.start(), clientCertificate: certificate, ... })
 * ```
 */
export class NodeClientCertificate {
  readonly #options: NodeClientCertificateOptions;
  readonly #tools: { readonly clock: SteadyClock; readonly random: () => number; readonly logger: Logger };
  readonly #folder: CertificateFolder;
  readonly #stopping = new AbortController();
  readonly #bootstrap: BootstrapTransport;
  #own: KubeTransport | undefined;
  #requested: RequestedCertificates | undefined;
  #started: Promise<ClientConfig> | undefined;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. Reads and asks nothing yet. */
  constructor(options: NodeClientCertificateOptions) {
    requireKnownOptions('options', options, knownOptions);
    const { certificateFolder, rotateCertificates = false, clock = systemClock, random = Math.random } = options;
    nodeNameOption(options.nodeName);
    for (const name of ['kubeconfig', 'bootstrapKubeconfig', 'certificateFolder'] as const) {
      const value: unknown = options[name];
      if (name === 'bootstrapKubeconfig' && value === undefined) continue;
      if (typeof value !== 'string' || !isAbsolute(value)) throw invalidOption(name, 'an absolute path', value);
    }
    optionOfType('rotateCertificates', rotateCertificates, 'boolean');
    optionOfType('random', random, 'function');
    requireMethods('clock', clock, ['now', 'setTimer']);
    this.#options = { ...options, rotateCertificates };
    this.#tools = { clock: safeClock(clock), random: safeRandom(random), logger: loggerOption(options.logger) };
    this.#folder = new CertificateFolder(certificateFolder, clientPurpose.filePrefix);
    this.#bootstrap = new BootstrapTransport(options.bootstrapKubeconfig, this.#tools);
  }

  /**
   * Resolves with the kubeconfig of the node. With `rotateCertificates` it may be there before its first certificate is: requests then fail with
   * `NoCredentials` until it is signed. Without, the first certificate is waited for. Rejects, naming the file, where the node's kubeconfig
   * cannot be used and there is no bootstrap kubeconfig, with the signal's reason, and when `stop` is called. Further calls have the same answer.
   */
  start({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<ClientConfig> {
    this.#started ??= this.#start(signal);
    return this.#started;
  }

  /** Why the node has no certificate, or cannot renew it; undefined while all is well. */
  problem(): Problem | undefined {
    return this.#requested?.problem();
  }

  /** Asks nobody any more, and leaves no timer. The certificate stays in its folder. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the client certificate is no longer renewed'));
    await this.#requested?.stop();
    await Promise.all([this.#bootstrap.close(), this.#own?.close()]);
  }

  /** The same as `stop()`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #start(signal: AbortSignal | undefined): Promise<ClientConfig> {
    signal?.throwIfAborted();
    this.#stopping.signal.throwIfAborted();
    const { kubeconfig: path, bootstrapKubeconfig, rotateCertificates } = this.#options;
    const { kubeConfig, certificate } = await this.#ownKubeconfig();
    if (kubeConfig !== undefined && (certificate === undefined || !rotateCertificates)) return kubeConfig;
    const bootstrap =
      kubeConfig ?? (bootstrapKubeconfig === undefined ? undefined : await readKubeconfigFile(bootstrapKubeconfig));
    if (bootstrap === undefined) {
      throw new Error(
        `the kubeconfig ${path} is not there or cannot be used, and there is no bootstrap kubeconfig ${bootstrapKubeconfig}`,
      );
    }
    const own = new NodeKubeconfig(bootstrap, this.#folder.path);
    if (rotateCertificates) {
      if (kubeConfig === undefined) await writeNodeKubeconfig(path, bootstrap, this.#folder.path);
      await this.#request(own, certificate === 'ended' ? undefined : certificate, signal);
      return own.config;
    }
    await this.#first(own, signal);
    await writeNodeKubeconfig(path, bootstrap, this.#folder.path);
    return own.config;
  }

  /** `kubeConfig` is undefined where a certificate has to be asked for by the bootstrap kubeconfig. */
  async #ownKubeconfig(): Promise<{ kubeConfig?: ClientConfig; certificate?: CheckedCertificate | 'ended' | undefined }> {
    const { kubeconfig: path, bootstrapKubeconfig } = this.#options;
    const { logger, clock } = this.#tools;
    let kubeConfig: ClientConfig | undefined;
    try {
      kubeConfig = await readKubeconfigFile(path);
      if (kubeConfig === undefined) {
        if (bootstrapKubeconfig === undefined) throw new Error(`the kubeconfig ${path} is not there`);
        return {};
      }
      const certificate = await clientCertificateOf(kubeConfig, clock.now());
      if (certificate === undefined && bootstrapKubeconfig !== undefined) throw new Error('it has no client certificate');
      return { kubeConfig, certificate };
    } catch (error) {
      if (bootstrapKubeconfig !== undefined) {
        const reason = errorText(error);
        logger.warn(
          { node: this.#options.nodeName, path, reason },
          'the kubeconfig of the node is of no use: a certificate is asked for',
        );
        return {};
      }
      if (kubeConfig === undefined) throw error;
      return { kubeConfig, certificate: 'ended' };
    }
  }

  /** Throws where nobody waits any more: what is made here ends with `stop`. */
  async #request(
    own: NodeKubeconfig,
    initial: CheckedCertificate | undefined,
    signal: AbortSignal | undefined,
  ): Promise<RequestedCertificates> {
    for (const each of [signal, this.#stopping.signal]) each?.throwIfAborted();
    const { nodeName, certificateFolder } = this.#options;
    const { clock, logger } = this.#tools;
    this.#own = new KubeTransport(own.config, { clock, logger });
    const names = { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'], dnsNames: [], ipAddresses: [] };
    const requested: RequestedCertificates = new RequestedCertificates({
      ...{ purpose: clientPurpose, nodeName, folder: certificateFolder, initial, ...this.#tools },
      names: (): CertificateNames => names,
      makeRequest: makeCertificateRequest,
      transport: this.#transport(this.#own, () => requested.hasCertificate),
    });
    this.#requested = requested;
    const show = (): Promise<void> =>
      requested.read().then(
        (certificate) => own.show(certificate),
        () => {},
      );
    requested.onChange(() => void show());
    await show();
    return requested;
  }

  /** Resolves once the first certificate is there. Until then the process lives: nothing else of it may. */
  async #first(own: NodeKubeconfig, signal: AbortSignal | undefined): Promise<void> {
    const letGo = keepProcess(this.#tools.clock);
    try {
      const requested = await this.#request(own, undefined, signal);
      await this.#firstOf(requested, signal);
      own.show(await requested.read());
    } finally {
      letGo();
      await this.#requested?.stop();
      this.#requested = undefined;
    }
  }

  async #firstOf(requested: RequestedCertificates, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = (): void => {
      if (requested.hasCertificate) resolve();
    };
    const forget = requested.onChange(look);
    const leave = [signal, this.#stopping.signal].map((each) => onAbort(each, () => reject(each?.reason)));
    try {
      look();
      await promise;
    } finally {
      forget();
      for (const one of leave) one();
    }
  }

  /** Whoever has a certificate asks with it, and else with the bootstrap kubeconfig. */
  #transport(own: ResourceTransport, hasCertificate: () => boolean): ResourceTransport {
    const way = async (): Promise<ResourceTransport> => (hasCertificate() ? own : this.#bootstrap.current());
    return {
      request: async (request) => (await way()).request(request),
      stream: async (stream) => (await way()).stream(stream),
    };
  }
}

/** Keeps the process alive by a timer, until the function that it returns is called. */
function keepProcess(clock: Clock): () => void {
  const again = (): void => {
    cancel = clock.setTimer(again, keepMs, { keepAlive: true });
  };
  let cancel = clock.setTimer(again, keepMs, { keepAlive: true });
  return () => cancel();
}

/** The way to the apiserver by the bootstrap kubeconfig, whose token may be replaced at any time. */
class BootstrapTransport {
  readonly #path: string | undefined;
  readonly #tools: { readonly clock: Clock; readonly logger: Logger };
  #transport: KubeTransport | undefined;
  #text: string | undefined;
  #isClosed = false;

  constructor(path: string | undefined, { clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#path = path;
    this.#tools = { clock, logger };
  }

  /** Rejects where there is no file that can be used. */
  async current(): Promise<KubeTransport> {
    if (this.#path === undefined) throw new Error('its certificate has ended, and no bootstrap kubeconfig is given');
    const kubeConfig = await readKubeconfigFile(this.#path);
    if (kubeConfig === undefined) throw new Error(`there is no bootstrap kubeconfig ${this.#path}`);
    if (this.#isClosed) throw new Error('the client certificate is no longer renewed');
    const text = JSON.stringify([kubeConfig.getCurrentCluster(), kubeConfig.getCurrentUser()]);
    if (this.#transport !== undefined && text === this.#text) return this.#transport;
    void this.#transport?.close();
    this.#text = text;
    this.#transport = new KubeTransport(kubeConfig, this.#tools);
    return this.#transport;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#transport?.close();
  }
}

// Behaviour of pkg/kubelet/lifecycle/handlers.go, v1.36.3.

import { type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { podText } from '../../api/pod/pod-identity.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { errorCodeOf, errorText } from '../../base/errors.ts';
import { probeHeaders, requestPath } from '../../node/probes/http-probe.ts';
import { containerPort } from '../../node/probes/network-prober.ts';
import { type ContainerRuntime, isRuntimeError } from '../runtime/container-runtime.ts';

export type LifecycleHandler = NonNullable<NonNullable<Container['lifecycle']>['postStart']>;

/** Which hook is run, and where. */
export interface HookRequest {
  readonly pod: Pod;
  readonly container: Container;
  /** As the runtime names it. */
  readonly containerID: string;
  readonly handler: LifecycleHandler;
  /** The pod's address; undefined where it has none. */
  readonly podIP: string | undefined;
}

export interface LifecycleHooksOptions {
  readonly runtime: Pick<ContainerRuntime, 'execSync'>;
  readonly clock: Clock;
}

/** A hook has failed. Its message has the kubelet's words: with the command, its output, and the path of the request. */
export class HookError extends Error {
  /** Why, without what the hook is and what it said: that may be secret. */
  readonly brief: string;

  constructor(message: string, brief: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'HookError';
    this.brief = brief;
  }
}

const decoder = new TextDecoder();

/** So much of what a command says is told, in bytes of each of its outputs: it is kept, and becomes part of the pod's status. */
const longestHookOutput = 4096;

/** Runs the hooks of containers: a command, a request, or a pause. */
export class LifecycleHooks {
  readonly #options: LifecycleHooksOptions;

  constructor(options: LifecycleHooksOptions) {
    this.#options = options;
  }

  /** Resolves once the hook has succeeded. Rejects with a `HookError`, or with the signal's reason. */
  async run(request: HookRequest, signal: AbortSignal): Promise<void> {
    const { container, handler, pod } = request;
    const of = `for Container ${JSON.stringify(container.name)} in Pod ${JSON.stringify(podText(pod))} failed - error:`;
    if (handler.exec) await this.#exec(request, handler.exec.command ?? [], of, signal);
    else if (handler.httpGet) {
      try {
        await requestHook(addressOf(request, handler.httpGet), signal);
      } catch (error) {
        signal.throwIfAborted();
        const text = `HTTP lifecycle hook (${handler.httpGet.path ?? ''}) ${of} ${errorText(error)}`;
        const code = errorCodeOf(error);
        throw new HookError(
          text,
          code === undefined ? 'the request could not be made' : `the request failed with ${code}`,
          error,
        );
      }
    } else if (handler.sleep) {
      await sleep(this.#options.clock, handler.sleep.seconds * 1000, signal);
      signal.throwIfAborted();
    } else throw new HookError('Cannot run handler: invalid handler', 'it is neither a command, a request nor a pause');
  }

  async #exec({ containerID }: HookRequest, command: readonly string[], of: string, signal: AbortSignal): Promise<void> {
    const failed = (why: string, output: string): string =>
      `Exec lifecycle hook ([${command.join(' ')}]) ${of} ${why}, message: ${JSON.stringify(output)}`;
    let result: Awaited<ReturnType<ContainerRuntime['execSync']>>;
    try {
      result = await this.#options.runtime.execSync(containerID, command, 0, { signal });
    } catch (error) {
      signal.throwIfAborted();
      const kind = isRuntimeError(error) ? ` (${error.kind})` : '';
      throw new HookError(failed(errorText(error), ''), `the runtime did not run the command${kind}`, error);
    }
    const { exitCode, stdout, stderr } = result;
    if (exitCode === 0) return;
    const errors = decoder.decode(stderr.subarray(0, longestHookOutput));
    const output = decoder.decode(stdout.subarray(0, longestHookOutput)) + errors;
    const text = failed(`command '${command.join(' ')}' exited with ${exitCode}: ${errors}`, output);
    throw new HookError(text, `the command exited with ${exitCode}`);
  }
}

function addressOf({ container, podIP }: HookRequest, { host, port, path, scheme, httpHeaders }: HttpGet) {
  const to = host || podIP;
  if (!to) throw new Error('failed to find networking container: the pod has no IP address');
  return {
    scheme: scheme?.toLowerCase() || 'http',
    host: to,
    port: containerPort(port, container),
    path: path ?? '',
    headers: httpHeaders ?? [],
  };
}

type HttpGet = NonNullable<LifecycleHandler['httpGet']>;

// Behaviour of runHTTPHandler in pkg/kubelet/lifecycle and of pkg/probe/http, v1.36.3.

/** A GET request of a hook. */
export interface HookAddress {
  /** `http` or `https`. */
  readonly scheme: string;
  /** A name or an address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** As the spec has it. */
  readonly path: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}

const userAgent = 'kube-lifecycle/1.36';

/**
 * Makes the request. Any answer will do, of whatever status. Over TLS no certificate is verified; a server that has no TLS is
 * asked again without, and without the header Authorization.
 */
async function requestHook(address: HookAddress, signal: AbortSignal): Promise<void> {
  try {
    await get(address, signal);
  } catch (error) {
    if (address.scheme !== 'https' || !isPlainAnswer(error)) throw error;
    const headers = address.headers.filter(({ name }) => name.toLowerCase() !== 'authorization');
    await get({ ...address, scheme: 'http', headers }, signal);
  }
}

function get({ scheme, host, port, path, headers: ofSpec }: HookAddress, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    if (scheme !== 'http' && scheme !== 'https') throw new Error(`unsupported protocol scheme ${JSON.stringify(scheme)}`);
    const { headers, host: named } = probeHeaders(ofSpec);
    const sent: Record<string, string | string[]> = { ...headers };
    if (!ofSpec.some(({ name }) => name.toLowerCase() === 'user-agent')) sent['user-agent'] = [userAgent];
    if (named !== undefined) sent.host = named;
    const options: RequestOptions & { readonly rejectUnauthorized: boolean; readonly servername: string } = {
      host,
      port,
      path: requestPath(path),
      headers: sent,
      agent: false,
      rejectUnauthorized: false,
      servername: isIP(host) ? '' : host,
      signal,
    };
    const request = (scheme === 'https' ? requestHttps : requestHttp)(options);
    request.on('error', reject);
    request.on('upgrade', (_, socket) => {
      socket.destroy();
      resolve();
    });
    request.on('response', (response) => {
      response.destroy();
      resolve();
    });
    request.end();
  });
}

/** True when a server without TLS has answered a request over TLS. */
function isPlainAnswer(error: unknown): boolean {
  const code = errorCodeOf(error);
  return code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG' || code === 'EPROTO';
}

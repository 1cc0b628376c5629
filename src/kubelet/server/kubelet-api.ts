import { NodeApiServer } from '../../node/server/node-api-server.ts';
import { type KubeletApiOptions, resolveApiOptions } from './api-options.ts';
import { RuntimeApiHost } from './runtime-api-host.ts';

/**
 * The kubelet's API (`pkg/kubelet/server`) over TLS: logs, exec, attach, port-forward and run, pods, health, metrics, statistics and
 * the configuration. Every request needs a sender: a client certificate that the authorities of `tls.clientCAFile` have signed, or
 * a bearer token that the apiserver knows (TokenReview, kept for 2 minutes); and it needs the right to `nodes/SUBRESOURCE` of this
 * node (SubjectAccessReview, kept for 5 minutes if allowed, for 30 s if not), as the kubelet's. Without a clear yes it is refused:
 * 401, 403, or 500 where nobody can say.
 *
 * Streams are passed on to the runtime as they are, SPDY and WebSocket alike, without the client's credentials.
 *
 * @example
 * ```ts
 * import { KubeletApi } from 'pod-status-manager/kubelet';
 *
 * try {
 *   new KubeletApi({ nodeName: 'node-1' } as never);
 * } catch (error) {
 *   console.log(error instanceof Error && 'code' in error && error.code); // ERR_INVALID_OPTION
 * }
 * ```
 */
export class KubeletApi {
  readonly #server: NodeApiServer;

  /** Throws ERR_INVALID_OPTION for an option that breaks a rule. */
  constructor(options: KubeletApiOptions) {
    const { host, ...resolved } = resolveApiOptions(options);
    this.#server = new NodeApiServer({ ...resolved, host: new RuntimeApiHost(host, resolved) });
  }

  /**
   * Resolves with the port once it is listened on. Rejects when the files of `tls` cannot be read or do not fit together, or the
   * port is taken; with ERR_ALREADY_STARTED the second time, with ERR_STOPPED after `close`.
   */
  listen(): Promise<{ readonly port: number }> {
    return this.#server.listen();
  }

  /** Ends every stream and every connection. Resolves when the port is free. */
  close(): Promise<void> {
    return this.#server.close();
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

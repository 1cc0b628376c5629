import { type ErrorCode, StatusManagerError } from '../../base/errors.ts';

/** How a call of a plugin may be cut short. */
export interface PluginCall {
  /** Aborts the call; it then rejects with the signal's reason. The plugin may finish what it has begun. */
  readonly signal?: AbortSignal | undefined;
  /** The longest time of the call, in milliseconds. Default: two minutes, as the kubelet has it. */
  readonly timeoutMs?: number | undefined;
}

/** What a plugin says of itself when it is asked over its registration socket. */
export interface PluginInfo {
  /** What it is: `CSIPlugin`, `DevicePlugin` or `DRAPlugin`. */
  readonly type: string;
  /** Its name, one of its type on a node. */
  readonly name: string;
  /** The path of the socket that it serves on; empty: its registration socket. */
  readonly endpoint: string;
  /** The versions of its services that it speaks. */
  readonly supportedVersions: readonly string[];
}

/** The registration socket of one plugin. Its calls reject with a {@link PluginCallError}. */
export interface PluginRegistration {
  /** Asks the plugin what it is. */
  getInfo(call?: PluginCall): Promise<PluginInfo>;
  /** Tells the plugin how its registration went; `error` says in words why it failed, and is empty where it did not. */
  notify(status: { readonly registered: boolean; readonly error: string }, call?: PluginCall): Promise<void>;
  /** Ends the connection. Calls under way reject. */
  close(): void;
}

/** What a plugin is told, and registered with, by its type. */
export interface PluginHandler {
  /** True: several plugins of one name may be registered, each with an endpoint of its own. Default: a name belongs to one socket. */
  readonly takesInstances?: boolean;
  /** Throws where such a plugin cannot be registered. The message is sent to the plugin. */
  validate(plugin: PluginInfo): void;
  /** Makes use of the plugin from now on. Rejects where that cannot be; the message is sent to the plugin. */
  register(plugin: PluginInfo, signal: AbortSignal): Promise<void>;
  /** The plugin is gone. */
  deregister(plugin: PluginInfo, signal: AbortSignal): Promise<void>;
}

/** Codes of gRPC after which nobody knows whether the plugin has done, or is still doing, what it was asked for. */
const uncertainCodes: readonly string[] = ['Canceled', 'DeadlineExceeded', 'Unavailable', 'ResourceExhausted', 'Aborted'];

/**
 * A call of a plugin failed. Its `code` is `ERR_PLUGIN_CALL`, its message has the plugin's own words, and no secret of the request.
 *
 * @example
 * ```ts
 * import { PluginCallError } from 'pod-status-manager/kubelet';
 *
 * const error = new PluginCallError('NotFound', 'NodePublishVolume', 'no such volume');
 * console.log(error.message, error.isFinal); // rpc error: code = NotFound desc = no such volume true
 * ```
 */
export class PluginCallError extends StatusManagerError {
  /** The name of the code of gRPC, such as `NotFound`. */
  readonly grpcCode: string;
  /** The name of the call, such as `NodePublishVolume`. */
  readonly call: string;
  /** False: the plugin may have done what it was asked for, or do it still. */
  readonly isFinal: boolean;

  constructor(grpcCode: string, call: string, description: string, options?: ErrorOptions) {
    const code: ErrorCode = 'ERR_PLUGIN_CALL';
    super(code, `rpc error: code = ${grpcCode} desc = ${description}`, options);
    this.name = 'PluginCallError';
    this.grpcCode = grpcCode;
    this.call = call;
    this.isFinal = !uncertainCodes.includes(grpcCode);
  }
}

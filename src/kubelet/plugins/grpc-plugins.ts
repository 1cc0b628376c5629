import { type Clock, safeClock, systemClock } from '../../base/clock.ts';
import { requireKnownOptions, requireMethods } from '../../base/options.ts';
import type { CsiNode, PluginConnector } from '../csi/csi-node.ts';
import type { DraConnector, DraDriver, DraService } from '../dra/dra-driver.ts';
import { GrpcConnection } from '../grpc/grpc-connection.ts';
import { type PluginCall, PluginCallError, type PluginRegistration } from '../registration/plugin-registration.ts';
import { GrpcCsiNode } from './grpc-csi-node.ts';
import { GrpcDraDriver } from './grpc-dra-driver.ts';
import { Registration } from './proto/pluginregistration_pb.ts';

/** How plugins are spoken with. */
export interface GrpcPluginsOptions {
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
}

/** The longest answer of a registration socket, in bytes. */
const longestRegistration = 65_536;
/** The longest answer of a driver, in bytes: gRPC's own limit. */
const longestAnswer = 4 * 1024 * 1024;
const defaultTimeoutMs = 10_000;

const rpcError = (code: string, call: string, description: string, options?: ErrorOptions): PluginCallError =>
  new PluginCallError(code, call, description, options);

/**
 * Speaks with the plugins of a node over their unix sockets by gRPC: `pluginregistration.v1`, the identity and node services of CSI v1, and
 * the services of dynamic resource allocation (v1, v1beta1, and the health of devices, v1alpha1). Its connections are made at their first call,
 * and again after the plugin has restarted.
 *
 * @example
 * ```ts
 * import { GrpcPlugins } from 'pod-status-manager/plugins';
 *
 * const driver = new GrpcPlugins().csiNode('/var/lib/kubelet/plugins/no-such-driver/csi.sock');
 * const answer = await driver.getInfo({ timeoutMs: 5000 }).catch((error: Error & { grpcCode?: string }) => error.grpcCode);
 * console.log(answer); // Unavailable
 * driver.close();
 * ```
 */
export class GrpcPlugins implements PluginConnector, DraConnector {
  readonly #clock: Clock;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: GrpcPluginsOptions = {}) {
    requireKnownOptions('options', options, ['clock']);
    const { clock = systemClock } = options;
    requireMethods('clock', clock, ['now', 'setTimer']);
    this.#clock = safeClock(clock);
  }

  registration(socketPath: string): PluginRegistration {
    const connection = this.#connect(socketPath, longestRegistration);
    const { method } = Registration;
    const limits = ({ signal, timeoutMs = defaultTimeoutMs }: PluginCall = {}) => ({ signal, timeoutMs });
    return {
      async getInfo(call) {
        const { type, name, endpoint, supportedVersions } = await connection.unary(method.getInfo, () => ({}), limits(call));
        return { type, name, endpoint, supportedVersions };
      },
      async notify({ registered, error }, call) {
        const makeRequest = () => ({ pluginRegistered: registered, error });
        await connection.unary(method.notifyRegistrationStatus, makeRequest, limits(call));
      },
      close: () => connection.close(),
    };
  }

  csiNode(socketPath: string): CsiNode {
    return new GrpcCsiNode(this.#connect(socketPath, longestAnswer));
  }

  draDriver(socketPath: string, service: DraService): DraDriver {
    return new GrpcDraDriver(this.#connect(socketPath, longestAnswer), service);
  }

  #connect(socketPath: string, maxMessageBytes: number): GrpcConnection {
    return new GrpcConnection({ socketPath, clock: this.#clock, maxMessageBytes, rpcError });
  }
}

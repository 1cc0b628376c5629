import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { requireKnownOptions, requireMethods } from '../../base/options.ts';
import type { CsiNode, PluginConnector } from '../csi/csi-node.ts';
import type {
  DeviceAllocation,
  DevicePlugin,
  DevicePluginConnector,
  DevicePluginRegistration,
  PodResourcesLister,
  ServedSocket,
} from '../devices/device-plugin.ts';
import type { DraConnector, DraDriver, DraService } from '../dra/dra-driver.ts';
import { GrpcConnection } from '../grpc/grpc-connection.ts';
import { GrpcServer, served } from '../grpc/grpc-server.ts';
import { type PluginCall, PluginCallError, type PluginRegistration } from '../registration/plugin-registration.ts';
import { GrpcCsiNode } from './grpc-csi-node.ts';
import { allocationBytes, GrpcDevicePlugin, readAllocation } from './grpc-device-plugin.ts';
import { GrpcDraDriver } from './grpc-dra-driver.ts';
import { Registration as DeviceRegistration } from './proto/deviceplugin_pb.ts';
import { Registration } from './proto/pluginregistration_pb.ts';
import { servePodResources } from './serve-pod-resources.ts';

/** How plugins are spoken with. */
export interface GrpcPluginsOptions {
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
}

/** The longest answer of a registration socket, in bytes. */
const longestRegistration = 65_536;
/** The longest answer of a driver, in bytes: gRPC's own limit. */
const longestAnswer = 4 * 1024 * 1024;
/** The longest request of a plugin, in bytes. */
const longestRequest = 65_536;
const defaultTimeoutMs = 10_000;

const rpcError = (code: string, call: string, description: string, options?: ErrorOptions): PluginCallError =>
  new PluginCallError(code, call, description, options);

/**
 * Speaks with the plugins of a node over their unix sockets by gRPC: `pluginregistration.v1`, the identity and node services of CSI v1,
 * device plugins (v1beta1), and the services of dynamic resource allocation (v1, v1beta1, and the health of devices, v1alpha1). Its connections are made at their first call,
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
export class GrpcPlugins implements PluginConnector, DraConnector, DevicePluginConnector {
  readonly #clock: SteadyClock;

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

  devicePlugin(socketPath: string): DevicePlugin {
    return new GrpcDevicePlugin(this.#connect(socketPath, longestAnswer));
  }

  /** Rejects where the socket cannot be made, such as one that is there already. */
  serveDeviceRegistration(
    socketPath: string,
    register: (plugin: DevicePluginRegistration) => Promise<void>,
  ): Promise<ServedSocket> {
    const method = served(DeviceRegistration.method.register, async ({ version, endpoint, resourceName }) => {
      await register({ version, endpoint, resourceName });
      return {};
    });
    return GrpcServer.listen({ socketPath, methods: [method], maxRequestBytes: longestRequest, clock: this.#clock });
  }

  /** Rejects where the socket cannot be made, such as one that is there already. */
  servePodResources(socketPath: string, lister: PodResourcesLister): Promise<ServedSocket> {
    return servePodResources(socketPath, lister, this.#clock);
  }

  allocationBytes(allocation: DeviceAllocation): Uint8Array {
    return allocationBytes(allocation);
  }

  readAllocation(bytes: Uint8Array): DeviceAllocation {
    return readAllocation(bytes);
  }

  #connect(socketPath: string, maxMessageBytes: number): GrpcConnection {
    return new GrpcConnection({ socketPath, clock: this.#clock, maxMessageBytes, rpcError });
  }
}

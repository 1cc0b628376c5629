// Behaviour of pkg/kubelet/cm/dra/plugin/dra_plugin.go, v1.36.3.

import type { DraClaim, DraDevice, DraDeviceHealth, DraDriver, DraService, PreparedClaim } from '../dra/dra-driver.ts';
import type { GrpcConnection } from '../grpc/grpc-connection.ts';
import type { PluginCall } from '../registration/plugin-registration.ts';
import { DRAResourceHealth, HealthStatus } from './proto/dra_health_pb.ts';
import { DRAPlugin } from './proto/dra_v1_pb.ts';
import { DRAPlugin as OlderDRAPlugin } from './proto/dra_v1beta1_pb.ts';

/** As the kubelet waits for a driver. */
const defaultTimeoutMs = 45_000;

/** The services of dynamic resource allocation over one connection. */
export class GrpcDraDriver implements DraDriver {
  readonly #connection: GrpcConnection;
  readonly #isOlder: boolean;

  constructor(connection: GrpcConnection, service: DraService) {
    this.#connection = connection;
    this.#isOlder = service === 'v1beta1.DRAPlugin';
  }

  async prepare(claims: readonly DraClaim[], call?: PluginCall): Promise<ReadonlyMap<string, PreparedClaim>> {
    const makeRequest = () => ({ claims: claims.map(claimRequest) });
    const { nodePrepareResources } = (this.#isOlder ? OlderDRAPlugin : DRAPlugin).method;
    const answer = await this.#connection.unary(
      nodePrepareResources as typeof DRAPlugin.method.nodePrepareResources,
      makeRequest,
      {
        ...limitsOf(call),
      },
    );
    return new Map(
      Object.entries(answer.claims).map(([uid, { devices, error }]) => [uid, { devices: devices.map(deviceOf), error }]),
    );
  }

  async unprepare(claims: readonly DraClaim[], call?: PluginCall): Promise<ReadonlyMap<string, string>> {
    const makeRequest = () => ({ claims: claims.map(claimRequest) });
    const { nodeUnprepareResources } = (this.#isOlder ? OlderDRAPlugin : DRAPlugin).method;
    const answer = await this.#connection.unary(
      nodeUnprepareResources as typeof DRAPlugin.method.nodeUnprepareResources,
      makeRequest,
      limitsOf(call),
    );
    return new Map(Object.entries(answer.claims).map(([uid, { error }]) => [uid, error]));
  }

  async *watchHealth(signal: AbortSignal): AsyncGenerator<readonly DraDeviceHealth[], void> {
    const answers = this.#connection.stream(DRAResourceHealth.method.nodeWatchResources, () => ({}), signal);
    for await (const { devices } of answers) {
      yield devices.map(({ device, health, healthCheckTimeoutSeconds, message }) => ({
        poolName: device?.poolName ?? '',
        deviceName: device?.deviceName ?? '',
        health: healthOf(health),
        timeoutSeconds: Number(healthCheckTimeoutSeconds),
        message,
      }));
    }
  }

  watchConnection(onChange: (isConnected: boolean) => void): void {
    this.#connection.watch(onChange);
  }

  close(): void {
    this.#connection.close();
  }
}

function limitsOf({ signal, timeoutMs = defaultTimeoutMs }: PluginCall = {}) {
  return { signal, timeoutMs };
}

function claimRequest({ namespace, uid, name }: DraClaim): DraClaim {
  return { namespace, uid, name };
}

type DeviceMessage = Omit<DraDevice, 'shareID' | 'cdiDeviceIDs'> & {
  readonly cdiDeviceIds: readonly string[];
  readonly shareId?: string | undefined;
};

function deviceOf({ poolName, deviceName, requestNames, cdiDeviceIds, shareId }: DeviceMessage): DraDevice {
  const device = { poolName, deviceName, requestNames, cdiDeviceIDs: cdiDeviceIds };
  return shareId === undefined ? device : { ...device, shareID: shareId };
}

function healthOf(health: HealthStatus): DraDeviceHealth['health'] {
  if (health === HealthStatus.HEALTHY) return 'Healthy';
  return health === HealthStatus.UNHEALTHY ? 'Unhealthy' : 'Unknown';
}

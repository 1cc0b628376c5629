// Behaviour of pkg/kubelet/cm/devicemanager/plugin/v1beta1, v1.36.3.

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type {
  DeviceAllocation,
  DevicePlugin as DevicePluginCalls,
  DevicePluginOptions,
  PluginDevice,
  PreferredAllocationRequest,
} from '../devices/device-plugin.ts';
import type { GrpcConnection } from '../grpc/grpc-connection.ts';
import type { PluginCall } from '../registration/plugin-registration.ts';
import { type ContainerAllocateResponse, ContainerAllocateResponseSchema, DevicePlugin } from './proto/deviceplugin_pb.ts';

const defaultTimeoutMs = 60_000;
const { method } = DevicePlugin;

/** The service DevicePlugin of `v1beta1` over one connection. */
export class GrpcDevicePlugin implements DevicePluginCalls {
  readonly #connection: GrpcConnection;

  constructor(connection: GrpcConnection) {
    this.#connection = connection;
  }

  async getOptions(call?: PluginCall): Promise<DevicePluginOptions> {
    const answer = await this.#connection.unary(method.getDevicePluginOptions, () => ({}), limitsOf(call));
    const { preStartRequired, getPreferredAllocationAvailable } = answer;
    return { preStartRequired, preferredAllocationAvailable: getPreferredAllocationAvailable };
  }

  async *listAndWatch(signal: AbortSignal): AsyncGenerator<readonly PluginDevice[], void> {
    for await (const { devices } of this.#connection.stream(method.listAndWatch, () => ({}), signal)) {
      yield devices.map(({ ID: id, health, topology }) => ({
        id,
        health,
        numaNodes: (topology?.nodes ?? []).map((node) => Number(node.ID)),
      }));
    }
  }

  async getPreferredAllocation(request: PreferredAllocationRequest, call?: PluginCall): Promise<readonly string[]> {
    const { available, mustInclude, size } = request;
    const container = {
      availableDeviceIDs: [...available],
      mustIncludeDeviceIDs: [...mustInclude],
      allocationSize: size,
    };
    const makeRequest = () => ({ containerRequests: [container] });
    const answer = await this.#connection.unary(method.getPreferredAllocation, makeRequest, limitsOf(call));
    return answer.containerResponses[0]?.deviceIDs ?? [];
  }

  async allocate(deviceIDs: readonly string[], call?: PluginCall): Promise<DeviceAllocation | undefined> {
    const makeRequest = () => ({ containerRequests: [{ devicesIds: [...deviceIDs] }] });
    const answer = await this.#connection.unary(method.allocate, makeRequest, limitsOf(call));
    const [response] = answer.containerResponses;
    return response && allocationOf(response);
  }

  async preStartContainer(deviceIDs: readonly string[], call?: PluginCall): Promise<void> {
    await this.#connection.unary(method.preStartContainer, () => ({ devicesIds: [...deviceIDs] }), limitsOf(call));
  }

  close(): void {
    this.#connection.close();
  }
}

/** The bytes of an allocation as `ContainerAllocateResponse`. */
export function allocationBytes({ envs, mounts, devices, annotations, cdiDevices }: DeviceAllocation): Uint8Array {
  const message = {
    envs: { ...envs },
    annotations: { ...annotations },
    mounts: mounts.map((mount) => ({ ...mount })),
    devices: devices.map((device) => ({ ...device })),
    cdiDevices: cdiDevices.map((name) => ({ name })),
  };
  return toBinary(ContainerAllocateResponseSchema, create(ContainerAllocateResponseSchema, message));
}

/** Throws where the bytes are no `ContainerAllocateResponse`. */
export function readAllocation(bytes: Uint8Array): DeviceAllocation {
  return allocationOf(fromBinary(ContainerAllocateResponseSchema, bytes));
}

function allocationOf({ envs, mounts, devices, annotations, cdiDevices }: ContainerAllocateResponse): DeviceAllocation {
  return {
    envs: { ...envs },
    annotations: { ...annotations },
    mounts: mounts.map(({ containerPath, hostPath, readOnly }) => ({ containerPath, hostPath, readOnly })),
    devices: devices.map(({ containerPath, hostPath, permissions }) => ({ containerPath, hostPath, permissions })),
    cdiDevices: cdiDevices.map(({ name }) => name),
  };
}

function limitsOf({ signal, timeoutMs = defaultTimeoutMs }: PluginCall = {}) {
  return { signal, timeoutMs };
}

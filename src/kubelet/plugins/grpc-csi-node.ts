// Behaviour of pkg/volume/csi/csi_client.go, v1.36.3.

import type { DescMessage, DescMethodUnary, MessageShape } from '@bufbuild/protobuf';
import { isJsonObject } from '../../api/json/json.ts';
import { errorText } from '../../base/errors.ts';
import {
  type CsiAccessMode,
  type CsiNode,
  type CsiNodeCapability,
  type CsiNodeInfo,
  type CsiVolumeUsage,
  type CsiVolumeUse,
  type ExpandVolumeRequest,
  type PublishVolumeRequest,
  type StageVolumeRequest,
  serviceAccountTokensKey,
} from '../csi/csi-node.ts';
import type { GrpcConnection, MakeRequest } from '../grpc/grpc-connection.ts';
import { type PluginCall, PluginCallError } from '../registration/plugin-registration.ts';
import {
  Identity,
  Node,
  NodeServiceCapability_RPC_Type,
  VolumeCapability_AccessMode_Mode,
  VolumeUsage_Unit,
} from './proto/csi_pb.ts';

/** As the kubelet waits for a driver. */
const defaultTimeoutMs = 120_000;
/** A secret that is shorter may be part of any word. */
const shortestSecret = 4;

const capabilities = new Set<string>([
  'STAGE_UNSTAGE_VOLUME',
  'GET_VOLUME_STATS',
  'EXPAND_VOLUME',
  'VOLUME_CONDITION',
  'SINGLE_NODE_MULTI_WRITER',
  'VOLUME_MOUNT_GROUP',
] satisfies CsiNodeCapability[]);

/** The identity and node services of CSI v1 over one connection. */
export class GrpcCsiNode implements CsiNode {
  readonly #connection: GrpcConnection;

  constructor(connection: GrpcConnection) {
    this.#connection = connection;
  }

  async getPluginInfo(call?: PluginCall): Promise<{ readonly name: string; readonly vendorVersion: string }> {
    const { name, vendorVersion } = await this.#call(Identity.method.getPluginInfo, () => ({}), call);
    return { name, vendorVersion };
  }

  async probe(call?: PluginCall): Promise<boolean> {
    // a driver that does not say is ready
    return (await this.#call(Identity.method.probe, () => ({}), call)).ready ?? true;
  }

  async getInfo(call?: PluginCall): Promise<CsiNodeInfo> {
    const { nodeId, maxVolumesPerNode, accessibleTopology } = await this.#call(Node.method.nodeGetInfo, () => ({}), call);
    return { nodeID: nodeId, maxVolumesPerNode: Number(maxVolumesPerNode), topology: { ...accessibleTopology?.segments } };
  }

  async getCapabilities(call?: PluginCall): Promise<ReadonlySet<CsiNodeCapability>> {
    const answer = await this.#call(Node.method.nodeGetCapabilities, () => ({}), call);
    const found = new Set<CsiNodeCapability>();
    for (const { type } of answer.capabilities) {
      const name = type.case === 'rpc' ? nameOf(NodeServiceCapability_RPC_Type, type.value.type) : undefined;
      if (name !== undefined && capabilities.has(name)) found.add(name as CsiNodeCapability);
    }
    return found;
  }

  async stageVolume(request: StageVolumeRequest, call?: PluginCall): Promise<void> {
    const { volumeID: volumeId, stagingTargetPath, publishContext = {}, volumeContext = {}, secrets = {} } = request;
    const message = { volumeId, stagingTargetPath, publishContext, volumeContext, secrets };
    const makeRequest = () => ({ ...message, volumeCapability: capabilityOf(request) });
    await this.#call(Node.method.nodeStageVolume, makeRequest, call, request);
  }

  async unstageVolume(volumeId: string, stagingTargetPath: string, call?: PluginCall): Promise<void> {
    await this.#call(Node.method.nodeUnstageVolume, () => ({ volumeId, stagingTargetPath }), call);
  }

  async publishVolume(request: PublishVolumeRequest, call?: PluginCall): Promise<void> {
    const { volumeID: volumeId, stagingTargetPath = '', targetPath, readonly } = request;
    const { publishContext = {}, volumeContext = {}, secrets = {} } = request;
    const message = { volumeId, stagingTargetPath, targetPath, readonly, publishContext, volumeContext, secrets };
    const makeRequest = () => ({ ...message, volumeCapability: capabilityOf(request) });
    await this.#call(Node.method.nodePublishVolume, makeRequest, call, request);
  }

  async unpublishVolume(volumeId: string, targetPath: string, call?: PluginCall): Promise<void> {
    await this.#call(Node.method.nodeUnpublishVolume, () => ({ volumeId, targetPath }), call);
  }

  async expandVolume(request: ExpandVolumeRequest, call?: PluginCall): Promise<number> {
    const { volumeID: volumeId, volumePath, stagingTargetPath = '', requiredBytes, secrets = {} } = request;
    const makeRequest = () => ({
      ...{ volumeId, volumePath, stagingTargetPath, secrets },
      capacityRange: { requiredBytes: BigInt(requiredBytes) },
      volumeCapability: capabilityOf(request),
    });
    return Number((await this.#call(Node.method.nodeExpandVolume, makeRequest, call, request)).capacityBytes);
  }

  async getVolumeStats(volumeId: string, volumePath: string, call?: PluginCall): Promise<readonly CsiVolumeUsage[]> {
    const { usage } = await this.#call(Node.method.nodeGetVolumeStats, () => ({ volumeId, volumePath }), call);
    return usage.flatMap(({ unit, available, total, used }) => {
      const name = nameOf(VolumeUsage_Unit, unit);
      if (name !== 'BYTES' && name !== 'INODES') return [];
      return [{ unit: name, available: Number(available), total: Number(total), used: Number(used) }];
    });
  }

  close(): void {
    this.#connection.close();
  }

  async #call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    makeRequest: MakeRequest<I>,
    { signal, timeoutMs = defaultTimeoutMs }: PluginCall = {},
    given: Confidential = {},
  ): Promise<MessageShape<O>> {
    try {
      return await this.#connection.unary(method, makeRequest, { signal, timeoutMs });
    } catch (error) {
      throw error instanceof PluginCallError ? withoutThem(error, given) : error;
    }
  }
}

type Confidential = Pick<PublishVolumeRequest, 'volumeContext' | 'secrets'>;

/** A driver may say in its error what it was given. */
function withoutThem(error: PluginCallError, given: Confidential): PluginCallError {
  const text = errorText(error);
  const shown = secretsOf(given).filter((secret) => secret.length >= shortestSecret && text.includes(secret));
  // one may be a part of another
  shown.sort((one, other) => other.length - one.length);
  if (shown.length === 0) return error;
  const prefix = `rpc error: code = ${error.grpcCode} desc = `;
  const hidden = shown.reduce((rest, secret) => rest.replaceAll(secret, '***stripped***'), text.slice(prefix.length));
  return new PluginCallError(error.grpcCode, error.call, hidden);
}

function secretsOf({ volumeContext = {}, secrets = {} }: Confidential): string[] {
  const tokens = [volumeContext, secrets].flatMap(({ [serviceAccountTokensKey]: text }) => (text === undefined ? [] : [text]));
  return [...Object.values(secrets), ...tokens, ...tokens.flatMap(singleTokens)];
}

/** A text of another shape has none. */
function singleTokens(text: string): string[] {
  let byAudience: unknown;
  try {
    byAudience = JSON.parse(text);
  } catch {
    return [];
  }
  const found = isJsonObject(byAudience) ? Object.values(byAudience) : [];
  return found.flatMap((each) => (isJsonObject(each) && typeof each.token === 'string' ? [each.token] : []));
}

function capabilityOf({ accessMode, block = false, fsType = '', mountFlags = [], volumeMountGroup = '' }: CsiVolumeUse) {
  const mount = { fsType, mountFlags: [...mountFlags], volumeMountGroup };
  return {
    accessMode: { mode: VolumeCapability_AccessMode_Mode[accessMode satisfies CsiAccessMode] },
    accessType: block ? { case: 'block' as const, value: {} } : { case: 'mount' as const, value: mount },
  };
}

function nameOf(names: Readonly<Record<string, number>>, value: number): string | undefined {
  return Object.keys(names).find((name) => names[name] === value);
}

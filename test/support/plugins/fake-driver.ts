import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { create, type DescService, fromBinary, toBinary } from '@bufbuild/protobuf';
import { type handleUnaryCall, Server, ServerCredentials, type ServiceDefinition, type sendUnaryData } from '@grpc/grpc-js';
import { Identity, Node } from '../../../src/kubelet/plugins/proto/csi_pb.ts';
import { Registration } from '../../../src/kubelet/plugins/proto/pluginregistration_pb.ts';
import type { Mounter } from '../../../src/kubelet.ts';
import { driverName, type PluginProcesses, type VolumePlaces } from './driver-world.ts';

/** A call as the driver has read it. */
export interface DriverCall {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: the fields of any message
  readonly request: any;
}

/** Fields of the answer, an error, or nothing for ever. */
export type DriverAnswer = object | { readonly code: number; readonly details: string } | 'nothing';

export interface FakeDriverOptions {
  /** The root directory of the agent. */
  readonly root: string;
  readonly mounter: Pick<Mounter, 'bind' | 'unmount' | 'mountsBelow'>;
  readonly name?: string;
  /** Names of capabilities by their numbers in CSI. */
  readonly capabilities?: readonly number[];
}

/** A storage driver in this process: it mounts by the mounter that it is given, and its registrar is one too. */
export class FakeDriver implements PluginProcesses {
  readonly #options: FakeDriverOptions;
  /** What takes the place of the driver's own answer. */
  readonly answers: Record<string, (call: DriverCall) => DriverAnswer | undefined> = {};
  readonly calls: DriverCall[] = [];
  readonly statuses: { readonly pluginRegistered: boolean; readonly error: string }[] = [];
  readonly volumes = new Map<string, string>();
  /** By the ids of volumes. */
  readonly #staged = new Map<string, Set<string>>();
  readonly #published = new Map<string, Set<string>>();
  readonly #held: (() => void)[] = [];
  #isHanging = false;
  #driver: Server | undefined;
  #registrar: Server | undefined;

  constructor(options: FakeDriverOptions) {
    this.#options = options;
  }

  get socketPath(): string {
    return join(this.#options.root, 'plugins', 'hp', 'csi.sock');
  }

  get registrationPath(): string {
    return join(this.#options.root, 'plugins_registry', `${this.name}-reg.sock`);
  }

  get name(): string {
    return this.#options.name ?? driverName;
  }

  callsOf(name: string): DriverCall[] {
    return this.calls.filter((call) => call.name === name);
  }

  async volumeCount(): Promise<number> {
    return this.volumes.size;
  }

  async createVolume(name: string): Promise<string> {
    return `id-of-${name}`;
  }

  async placesOf(volumeID: string): Promise<VolumePlaces> {
    return { staged: [...(this.#staged.get(volumeID) ?? [])], published: [...(this.#published.get(volumeID) ?? [])] };
  }

  async startDriver(): Promise<void> {
    this.#driver = await this.#listen(this.socketPath, [Identity, Node]);
  }

  async startRegistrar(): Promise<void> {
    this.#registrar = await this.#listen(this.registrationPath, [Registration]);
  }

  async stopRegistrar(): Promise<void> {
    this.#registrar?.forceShutdown();
    await rm(this.registrationPath, { force: true });
  }

  async stopDriver(): Promise<void> {
    this.#driver?.forceShutdown();
    await rm(this.socketPath, { force: true });
  }

  hang(): void {
    this.#isHanging = true;
  }

  goOn(): void {
    this.#isHanging = false;
    for (const answer of this.#held.splice(0)) answer();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopRegistrar();
    await this.stopDriver();
  }

  async #listen(path: string, services: readonly DescService[]): Promise<Server> {
    await mkdir(join(path, '..'), { recursive: true });
    await rm(path, { force: true });
    const server = new Server();
    for (const service of services) {
      const [definition, handlers] = [{} as ServiceDefinition, {} as Record<string, handleUnaryCall<Buffer, Buffer>>];
      for (const method of service.methods) {
        const asTheyAre = { deserialize: (bytes: Buffer) => bytes, serialize: (bytes: Buffer) => bytes };
        Object.assign(definition, {
          [method.name]: {
            path: `/${service.typeName}/${method.name}`,
            requestStream: false,
            responseStream: false,
            requestSerialize: asTheyAre.serialize,
            requestDeserialize: asTheyAre.deserialize,
            responseSerialize: asTheyAre.serialize,
            responseDeserialize: asTheyAre.deserialize,
          },
        });
        handlers[method.name] = (unary, callback) => {
          const call = { name: method.name, request: fromBinary(method.input, unary.request) };
          this.calls.push(call);
          const answer = (): void => void this.#answer(call, method.output, callback);
          if (this.#isHanging) this.#held.push(answer);
          else answer();
        };
      }
      server.addService(definition, handlers);
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()));
    await promise;
    return server;
  }

  async #answer(call: DriverCall, output: Parameters<typeof create>[0], callback: sendUnaryData<Buffer>): Promise<void> {
    const answer = this.answers[call.name]?.(call) ?? (await this.#own(call));
    if (answer === 'nothing') return;
    if ('code' in answer) callback(answer as Parameters<typeof callback>[0]);
    else callback(null, Buffer.from(toBinary(output, create(output, answer as Record<string, never>))));
  }

  async #bind(places: Map<string, Set<string>>, volumeID: string, path: string): Promise<void> {
    const known = places.get(volumeID) ?? new Set<string>();
    places.set(volumeID, known);
    if (known.has(path)) return;
    known.add(path);
    await this.#options.mounter.bind('/tmp', path, {});
  }

  async #unbind(places: Map<string, Set<string>>, volumeID: string, path: string): Promise<void> {
    for (const mount of await this.#options.mounter.mountsBelow(path)) await this.#options.mounter.unmount(mount);
    places.get(volumeID)?.delete(path);
  }

  /** A file stands for the device. */
  async #publishDevice({ volumeId, targetPath }: { readonly volumeId: string; readonly targetPath: string }): Promise<object> {
    await writeFile(targetPath, '');
    this.#published.set(volumeId, (this.#published.get(volumeId) ?? new Set()).add(targetPath));
    return {};
  }

  async #own({ name, request }: DriverCall): Promise<DriverAnswer> {
    const { capabilities = [] } = this.#options;
    switch (name) {
      case 'GetInfo':
        return { type: 'CSIPlugin', name: this.name, endpoint: this.socketPath, supportedVersions: ['1.0.0'] };
      case 'NotifyRegistrationStatus':
        this.statuses.push(request);
        return {};
      case 'GetPluginInfo':
        return { name: this.name, vendorVersion: '1' };
      case 'NodeGetInfo':
        return {
          nodeId: 'node-1',
          maxVolumesPerNode: 7n,
          accessibleTopology: { segments: { 'topology.hostpath.csi/node': 'node-1' } },
        };
      case 'NodeGetCapabilities':
        return { capabilities: capabilities.map((type) => ({ type: { case: 'rpc', value: { type } } })) };
      case 'NodeStageVolume':
        await this.#bind(this.#staged, request.volumeId, request.stagingTargetPath);
        return {};
      case 'NodeUnstageVolume':
        await this.#unbind(this.#staged, request.volumeId, request.stagingTargetPath);
        return {};
      case 'NodePublishVolume':
        this.volumes.set(request.volumeId, request.targetPath);
        if (request.volumeCapability?.accessType.case === 'block') return this.#publishDevice(request);
        await mkdir(request.targetPath, { recursive: true });
        await this.#bind(this.#published, request.volumeId, request.targetPath);
        return {};
      case 'NodeUnpublishVolume':
        await this.#unbind(this.#published, request.volumeId, request.targetPath);
        await rm(request.targetPath, { recursive: true, force: true });
        if (!this.#published.get(request.volumeId)?.size) this.volumes.delete(request.volumeId);
        return {};
      case 'NodeExpandVolume':
        return { capacityBytes: request.capacityRange.requiredBytes };
      default:
        return name === 'Probe' ? {} : { code: 12, details: `unknown method ${name}` };
    }
  }
}

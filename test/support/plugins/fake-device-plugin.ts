import { mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { create, type DescMethod, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Client, credentials, Server, ServerCredentials, type ServiceDefinition, status } from '@grpc/grpc-js';
import { DevicePlugin, Registration } from '../../../src/kubelet/plugins/proto/deviceplugin_pb.ts';
import type { DevicePluginProcess } from './device-contract.ts';

/** A call as the plugin has read it. */
export interface PluginCallMade {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: the fields of any message
  readonly request: any;
}

/** Fields of the answer, an error, or nothing for ever. */
export type PluginAnswer = object | { readonly code: number; readonly details: string } | 'nothing';

export interface FakeDevice {
  readonly ID: string;
  readonly health: string;
  readonly topology?: { readonly nodes: readonly { readonly ID: bigint }[] };
}

const asIs = (bytes: Buffer): Buffer => bytes;

/** A device plugin in this process: `Dev-1` and `Dev-2` of `example.com/resource`, as Kubernetes' sample device plugin has them. */
export class FakeDevicePlugin implements DevicePluginProcess {
  readonly folder: string;
  readonly resource: string;
  readonly name: string;
  /** What takes the place of the plugin's own answer. */
  readonly answers: Record<string, (call: PluginCallMade) => PluginAnswer | undefined> = {};
  readonly calls: PluginCallMade[] = [];
  devices: FakeDevice[] = ['Dev-1', 'Dev-2'].map((ID) => ({ ID, health: 'Healthy' }));
  options: object = {};
  readonly #lists = new Set<(devices: readonly FakeDevice[]) => void>();
  #server: Server | undefined;

  /** `root`: the root directory of the agent. */
  constructor(root: string, { resource = 'example.com/resource', name = 'fake.sock' } = {}) {
    this.folder = join(root, 'device-plugins');
    this.resource = resource;
    this.name = name;
  }

  get socketPath(): string {
    return join(this.folder, this.name);
  }

  callsOf(name: string): PluginCallMade[] {
    return this.calls.filter((call) => call.name === name);
  }

  async start(): Promise<void> {
    await this.serve();
    await this.register();
  }

  async serve(path = this.socketPath): Promise<void> {
    await mkdir(dirname(path), { recursive: true });
    await rm(path, { force: true });
    const server = new Server({ 'grpc.max_send_message_length': -1 });
    const definition: ServiceDefinition = {};
    // biome-ignore lint/suspicious/noExplicitAny: handlers of any shape
    const handlers: Record<string, any> = {};
    for (const method of DevicePlugin.methods) {
      const responseStream = method.methodKind === 'server_streaming';
      const codec = { requestSerialize: asIs, requestDeserialize: asIs, responseSerialize: asIs, responseDeserialize: asIs };
      Object.assign(definition, { [method.name]: { path: pathOf(method), requestStream: false, responseStream, ...codec } });
      handlers[method.name] = responseStream ? this.#list(method) : this.#unary(method);
    }
    server.addService(definition, handlers);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()));
    await promise;
    this.#server = server;
  }

  /** Registers at the kubelet's socket; rejects with what it says. */
  async register(request: object = {}): Promise<void> {
    const client = new Client(`unix:${join(this.folder, 'kubelet.sock')}`, credentials.createInsecure());
    const { input } = Registration.method.register;
    const whole = { version: 'v1beta1', endpoint: basename(this.socketPath), resourceName: this.resource, ...request };
    const bytes = Buffer.from(toBinary(input, create(input, whole)));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    client.makeUnaryRequest(pathOf(Registration.method.register), asIs, asIs, bytes, (error) =>
      error ? reject(error) : resolve(),
    );
    await promise.finally(() => client.close());
  }

  /** Lists these devices from now on. */
  list(devices: readonly FakeDevice[]): void {
    this.devices = [...devices];
    for (const list of this.#lists) list(devices);
  }

  async stop(): Promise<void> {
    this.#server?.forceShutdown();
    this.#server = undefined;
    await rm(this.socketPath, { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #list({ output }: DescMethod) {
    return (call: { write(bytes: Buffer): void; on(event: 'cancelled', listener: () => void): void }): void => {
      const list = (devices: readonly FakeDevice[]): void =>
        call.write(Buffer.from(toBinary(output, create(output, { devices: [...devices] } as Record<string, unknown>))));
      this.#lists.add(list);
      call.on('cancelled', () => this.#lists.delete(list));
      list(this.devices);
    };
  }

  #unary({ name, input, output }: DescMethod) {
    return (unary: { readonly request: Buffer }, callback: (error: unknown, bytes?: Buffer) => void): void => {
      const call = { name, request: fromBinary(input, unary.request) };
      this.calls.push(call);
      const answer = this.answers[name]?.(call) ?? this.#own(call);
      if (answer === 'nothing') return;
      if ('code' in answer) callback(answer);
      else callback(null, Buffer.from(toBinary(output, create(output, answer as Record<string, never>))));
    };
  }

  #own({ name, request }: PluginCallMade): PluginAnswer {
    switch (name) {
      case 'GetDevicePluginOptions':
        return this.options;
      case 'Allocate':
        return { containerResponses: request.containerRequests.map(this.#allocation) };
      case 'GetPreferredAllocation':
        return { containerResponses: [] };
      default:
        return name === 'PreStartContainer' ? {} : { code: status.UNIMPLEMENTED, details: `unknown method ${name}` };
    }
  }

  readonly #allocation = ({ devicesIds }: { readonly devicesIds: readonly string[] }): object => ({
    mounts: devicesIds.map((id) => ({ containerPath: `/tmp/${id}`, hostPath: `/tmp/${id}` })),
  });
}

function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

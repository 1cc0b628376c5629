import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { create, type DescService, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  Server,
  ServerCredentials,
  type ServerWritableStream,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { DRAResourceHealth } from '../../../src/kubelet/plugins/proto/dra_health_pb.ts';
import { DRAPlugin } from '../../../src/kubelet/plugins/proto/dra_v1_pb.ts';
import { DRAPlugin as OlderDRAPlugin } from '../../../src/kubelet/plugins/proto/dra_v1beta1_pb.ts';
import { Registration } from '../../../src/kubelet/plugins/proto/pluginregistration_pb.ts';

const fakeDraName = 'gpu.example.com';

/** Fields of the answer, an error, or nothing for ever. */
export type DraAnswer = object | { readonly code: number; readonly details: string } | 'nothing';

// biome-ignore lint/suspicious/noExplicitAny: the fields of any message
type Request = any;

/** A driver of dynamic resource allocation in this process, with its registration, over real sockets. */
export class FakeDraDriver {
  readonly #root: string;
  /** What takes the place of the driver's own answer, by the name of the call. */
  readonly answers: Record<string, (request: Request) => DraAnswer> = {};
  /** `v1.DRAPlugin NodePrepareResources a b`, in the order of the calls. */
  readonly calls: string[] = [];
  readonly statuses: { readonly pluginRegistered: boolean; readonly error: string }[] = [];
  readonly #watches = new Set<ServerWritableStream<Buffer, Buffer>>();
  #server: Server | undefined;
  #registrar: Server | undefined;

  /** `root`: the root directory of the agent. */
  constructor(root: string) {
    this.#root = root;
  }

  get socketPath(): string {
    return join(this.#root, 'plugins', fakeDraName, 'dra.sock');
  }

  get registrationPath(): string {
    return join(this.#root, 'plugins_registry', `${fakeDraName}-reg.sock`);
  }

  get watches(): number {
    return this.#watches.size;
  }

  async startDriver(services: readonly DescService[] = [DRAPlugin, OlderDRAPlugin, DRAResourceHealth]): Promise<void> {
    this.#server = await this.#listen(this.socketPath, services);
  }

  async startRegistrar(): Promise<void> {
    this.#registrar = await this.#listen(this.registrationPath, [Registration]);
  }

  /** Devices as the proto file has them. */
  tellHealth(devices: readonly object[]): void {
    const { output } = DRAResourceHealth.method.nodeWatchResources;
    const message = Buffer.from(toBinary(output, create(output, { devices: [...devices] as never })));
    for (const watch of this.#watches) watch.write(message);
  }

  /** As when its process is killed: the socket stays where it is. */
  async stopDriver(): Promise<void> {
    this.#server?.forceShutdown();
    this.#watches.clear();
  }

  async stopRegistrar(): Promise<void> {
    this.#registrar?.forceShutdown();
    await rm(this.registrationPath, { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopRegistrar();
    await this.stopDriver();
  }

  async #listen(path: string, services: readonly DescService[]): Promise<Server> {
    await mkdir(dirname(path), { recursive: true });
    await rm(path, { force: true });
    const server = new Server();
    const asItIs = (bytes: Buffer): Buffer => bytes;
    for (const service of services) {
      const definition: Record<string, unknown> = {};
      const handlers: UntypedServiceImplementation = {};
      for (const method of service.methods) {
        const isStream = method.methodKind === 'server_streaming';
        definition[method.name] = {
          path: `/${service.typeName}/${method.name}`,
          ...{ requestStream: false, responseStream: isStream },
          ...{ requestSerialize: asItIs, requestDeserialize: asItIs, responseSerialize: asItIs, responseDeserialize: asItIs },
        };
        const watch = (stream: ServerWritableStream<Buffer, Buffer>): void => {
          this.#watches.add(stream);
          stream.on('cancelled', () => this.#watches.delete(stream));
        };
        const unary = (
          { request: bytes }: { request: Buffer },
          callback: (error: object | null, answer?: Buffer) => void,
        ): void => {
          const request: Request = fromBinary(method.input, bytes);
          const version = service.typeName.split('.').slice(-2).join('.');
          this.calls.push([version, method.name, ...(request.claims ?? []).map(({ name }: Request) => name)].join(' '));
          const answer = this.answers[method.name]?.(request) ?? this.#own(method.name, request);
          if (answer === 'nothing') return;
          if ('code' in answer) callback(answer);
          else callback(null, Buffer.from(toBinary(method.output, create(method.output, answer as never))));
        };
        handlers[method.name] = (isStream ? watch : unary) as never;
      }
      server.addService(definition as ServiceDefinition, handlers);
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()));
    await promise;
    return server;
  }

  #own(name: string, request: Request): DraAnswer {
    const supportedVersions = ['v1.DRAPlugin', 'v1beta1.DRAPlugin', 'v1alpha1.DRAResourceHealth'];
    if (name === 'GetInfo') return { type: 'DRAPlugin', name: fakeDraName, endpoint: this.socketPath, supportedVersions };
    if (name === 'NotifyRegistrationStatus') {
      this.statuses.push(request);
      return {};
    }
    const deviceOf = (claim: string) => ({ poolName: 'p', deviceName: claim, cdiDeviceIds: [`${fakeDraName}/device=${claim}`] });
    const answerFor = (claim: Request) => (name === 'NodePrepareResources' ? { devices: [deviceOf(claim.name)] } : {});
    return { claims: Object.fromEntries(request.claims.map((claim: Request) => [claim.uid, answerFor(claim)])) };
  }
}

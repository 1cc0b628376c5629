import { join } from 'node:path';
import { create, type DescMessage, type DescMethod, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServerWritableStream,
  type ServiceDefinition,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { onTestFinished } from 'vitest';
import { ImageService, RuntimeService } from '../../../../src/kubelet/cri/proto/api_pb.ts';
import { tempDir } from '../../../support/temp-dir.ts';

/** A call that the server has got. */
export interface SeenCall {
  readonly name: string;
  /** The request as the server read it. */
  readonly request: Record<string, unknown>;
  /** The request as it came. */
  readonly bytes: Buffer;
  /** True once the client has taken the call back. */
  isCancelled: boolean;
}

/** What a call is answered with: fields of the answer, bytes that are sent as they are, an error, or nothing for ever. */
export type CallAnswer = object | Buffer | { readonly code: number; readonly details: string } | 'nothing';

/** How a test drives the answers of a call: by its name in CRI. */
export type CallAnswers = Record<string, (call: SeenCall) => CallAnswer>;

type Answering = Parameters<sendUnaryData<Buffer>>;

/** A server of CRI on a unix socket that answers as the test says; any other call is not implemented. */
export class CriServer {
  readonly socketPath: string;
  readonly seen: SeenCall[] = [];
  readonly #answers: CallAnswers;
  #streams: ServerWritableStream<Buffer, Buffer>[] = [];
  #server = new Server();

  private constructor(socketPath: string, answers: CallAnswers) {
    this.socketPath = socketPath;
    this.#answers = answers;
  }

  static async start(answers: CallAnswers): Promise<CriServer> {
    const server = new CriServer(join(await tempDir(), 'cri.sock'), answers);
    await server.listen();
    onTestFinished(() => server.kill());
    return server;
  }

  async listen(): Promise<void> {
    this.#server = new Server({ 'grpc.max_receive_message_length': 64 * 1024 * 1024 });
    for (const service of [RuntimeService, ImageService]) {
      const methods = service.methods.map((method) => [method.name, this.#definition(method)] as const);
      const handlers = service.methods.map((method) => [method.name, this.#handler(method)] as const);
      this.#server.addService(Object.fromEntries(methods) as ServiceDefinition, Object.fromEntries(handlers));
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const credentials = ServerCredentials.createInsecure();
    this.#server.bindAsync(`unix:${this.socketPath}`, credentials, (error) => (error ? reject(error) : resolve()));
    await promise;
  }

  /** As a process that dies: nobody is told. */
  kill(): void {
    this.#server.forceShutdown();
    this.#streams = [];
  }

  /** Sends an answer to every stream that is open. */
  send(method: DescMethod, answer: object): void {
    for (const stream of this.#streams) stream.write(encoded(method.output, answer));
  }

  /** Ends every stream that is open without an error. */
  endStreams(): void {
    for (const stream of this.#streams) stream.end();
  }

  /** Names of the calls so far, in order. */
  names(): string[] {
    return this.seen.map(({ name }) => name);
  }

  #definition(method: DescMethod) {
    const asTheyAre = { deserialize: (bytes: Buffer) => bytes, serialize: (bytes: Buffer) => bytes };
    return {
      path: `/${method.parent.typeName}/${method.name}`,
      requestStream: false,
      responseStream: method.methodKind === 'server_streaming',
      requestSerialize: asTheyAre.serialize,
      requestDeserialize: asTheyAre.deserialize,
      responseSerialize: asTheyAre.serialize,
      responseDeserialize: asTheyAre.deserialize,
    };
  }

  #handler(method: DescMethod): handleUnaryCall<Buffer, Buffer> | handleServerStreamingCall<Buffer, Buffer> {
    if (method.methodKind === 'server_streaming') {
      return (stream: ServerWritableStream<Buffer, Buffer>) => {
        const call = this.#see(method, stream.request);
        stream.on('cancelled', () => {
          call.isCancelled = true;
        });
        const answer = this.#answers[method.name]?.(call);
        if (answer !== undefined && 'code' in Object(answer)) stream.emit('error', answer);
        else this.#streams.push(stream);
      };
    }
    return (unary, callback) => {
      const call = this.#see(method, unary.request);
      unary.on('cancelled', () => {
        call.isCancelled = true;
      });
      const answer = this.#answers[method.name]?.(call) ?? { code: 12, details: `unknown method ${method.name}` };
      if (answer !== 'nothing') callback(...answering(method.output, answer));
    };
  }

  #see(method: DescMethod, bytes: Buffer): SeenCall {
    const request: Record<string, unknown> = { ...fromBinary(method.input, bytes) };
    delete request.$typeName;
    const call = { name: method.name, request, bytes, isCancelled: false };
    this.seen.push(call);
    return call;
  }
}

function answering(output: DescMessage, answer: Exclude<CallAnswer, 'nothing'>): Answering {
  if ('code' in answer) return [answer as Answering[0]];
  return [null, Buffer.isBuffer(answer) ? answer : encoded(output, answer)];
}

function encoded(output: DescMessage, answer: object): Buffer {
  return Buffer.from(toBinary(output, create(output, answer as Record<string, never>)));
}

import {
  create,
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import type { Clock } from '../../base/clock.ts';
import { settlesWithin } from '../../base/concurrency/aborts.ts';
import { errorText } from '../../base/errors.ts';
import type { grpcCodeNames } from '../../base/grpc-codes.ts';
import { textBeginning } from '../../base/text-beginning.ts';

/** One call that is served. */
export interface ServedMethod {
  readonly path: string;
  readonly answer: (request: Buffer) => Promise<Buffer>;
}

export interface GrpcServerOptions {
  readonly socketPath: string;
  readonly methods: readonly ServedMethod[];
  /** A request that is longer is refused. */
  readonly maxRequestBytes: number;
  readonly clock: Clock;
}

/** What a call is refused with, beside `Unknown`, which every other error is. */
export class GrpcRefusal extends Error {
  readonly grpcCode: (typeof grpcCodeNames)[number];

  constructor(grpcCode: GrpcRefusal['grpcCode'], message: string) {
    super(message);
    this.name = 'GrpcRefusal';
    this.grpcCode = grpcCode;
  }
}

/** So many calls of one client are answered at once. */
const mostCalls = 100;
/** How long calls that are under way may take once the server is to end. */
const closeTimeoutMs = 1000;
/** An error's text goes into a header. */
const longestText = 2000;

/** A call of a service, and what answers it. What the answer throws is told to the client. */
export function served<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  answer: (request: MessageShape<I>) => Promise<MessageInitShape<O>>,
): ServedMethod {
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    answer: async (request) => {
      let message: MessageShape<I>;
      try {
        message = fromBinary(method.input, request);
      } catch (error) {
        throw new GrpcRefusal('Internal', `the request is no ${method.input.typeName}: ${errorText(error)}`);
      }
      return Buffer.from(toBinary(method.output, create(method.output, await answer(message))));
    },
  };
}

const asIs = (bytes: Buffer): Buffer => bytes;

/** Serves unary calls of gRPC on a unix socket. */
export class GrpcServer {
  readonly #server: Server;
  readonly #clock: Clock;

  private constructor(server: Server, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
  }

  /** Rejects where the socket cannot be made: one that is there already must be removed first. */
  static async listen({ socketPath, methods, maxRequestBytes, clock }: GrpcServerOptions): Promise<GrpcServer> {
    const server = new Server({
      'grpc.max_receive_message_length': maxRequestBytes,
      'grpc.max_concurrent_streams': mostCalls,
      'grpc.enable_channelz': 0,
    });
    const definition: Record<string, ServiceDefinition[string]> = {};
    const handlers: Record<string, (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => void> = {};
    for (const { path, answer } of methods) {
      const codec = { requestSerialize: asIs, requestDeserialize: asIs, responseSerialize: asIs, responseDeserialize: asIs };
      definition[path] = { path, requestStream: false, responseStream: false, ...codec };
      handlers[path] = (call, done) => void reply(answer, call.request, done);
    }
    server.addService(definition, handlers);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.bindAsync(`unix:${socketPath}`, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()));
    await promise;
    return new GrpcServer(server, clock);
  }

  /** Takes no more calls, and removes the socket. Resolves once no call is under way; what takes long is cut off. */
  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.tryShutdown(() => resolve());
    const { signal } = new AbortController();
    if (await settlesWithin(promise, { clock: this.#clock, timeoutMs: closeTimeoutMs, signal })) return;
    this.#server.forceShutdown();
    await promise;
  }
}

async function reply(answer: ServedMethod['answer'], request: Buffer, done: sendUnaryData<Buffer>): Promise<void> {
  try {
    done(null, await answer(request));
  } catch (error) {
    const code = error instanceof GrpcRefusal ? error.grpcCode : 'Unknown';
    const number = status[codeKey(code)];
    done({ code: number, details: textBeginning(errorText(error), longestText) });
  }
}

/** `ResourceExhausted` is `RESOURCE_EXHAUSTED` there. */
function codeKey(name: GrpcRefusal['grpcCode']): keyof typeof status {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase() as keyof typeof status;
}

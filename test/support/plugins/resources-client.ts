import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Client, credentials } from '@grpc/grpc-js';
import { PodResourcesLister } from '../../../src/kubelet/plugins/proto/podresources_pb.ts';

const asIs = (bytes: Buffer): Buffer => bytes;
const { method } = PodResourcesLister;

/** A client of the API for the resources of pods, over its socket. */
export class ResourcesClient implements Disposable {
  readonly #client: Client;

  constructor(socketPath: string) {
    this.#client = new Client(`unix:${socketPath}`, credentials.createInsecure());
  }

  raw(path: string, bytes: Buffer): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    this.#client.makeUnaryRequest(path, asIs, asIs, bytes, (error, answer) =>
      error ? reject(error) : resolve(answer ?? Buffer.alloc(0)),
    );
    return promise;
  }

  async call(name: keyof typeof method, request: object = {}, path = `/v1.PodResourcesLister/${method[name].name}`) {
    const { input, output } = method[name];
    const bytes = Buffer.from(toBinary(input, create(input, request as Record<string, never>)));
    // biome-ignore lint/suspicious/noExplicitAny: the fields of any message
    return fromBinary(output, await this.raw(path, bytes)) as any;
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

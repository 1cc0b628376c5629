import type { DescMessage, DescMethodUnary, MessageShape } from '@bufbuild/protobuf';
import type { Logger } from '../../base/logging/logger.ts';
import type { GrpcConnection, MakeRequest } from '../grpc/grpc-connection.ts';
import { isRuntimeError, type PullImageOptions, type RuntimeCall } from '../runtime/container-runtime.ts';
import type { FilesystemUsage, ImageAuth, RuntimeImage } from '../runtime/runtime-images.ts';
import { filesystemOf, imageOf } from './cri-answers.ts';
import { rpcError } from './cri-connection.ts';
import { sandboxRequest } from './cri-requests.ts';
import { ImageService } from './proto/api_pb.ts';

const { method } = ImageService;

export async function pullImage(calls: CriCalls, image: string, options: PullImageOptions): Promise<string> {
  const { auth, sandbox, runtimeHandler = '', signal } = options;
  const makeRequest = () => ({
    image: { image, runtimeHandler },
    ...(auth && { auth: authRequest(auth) }),
    ...(sandbox && { sandboxConfig: sandboxRequest(sandbox) }),
  });
  const { imageRef } = await calls.unary(method.pullImage, makeRequest, { signal, timeoutMs: null });
  return answered(imageRef, method.pullImage.name, 'image reference');
}

export async function imageStatus(calls: CriCalls, image: string, call?: RuntimeCall): Promise<RuntimeImage | undefined> {
  const answer = await calls.unary(method.imageStatus, () => ({ image: { image } }), call);
  return answer.image && imageOf(answer.image);
}

export async function listImages(calls: CriCalls, call?: RuntimeCall): Promise<readonly RuntimeImage[]> {
  const { images } = await calls.unary(method.listImages, () => ({}), call);
  return images.map(imageOf);
}

export async function removeImage(calls: CriCalls, image: string, call?: RuntimeCall): Promise<void> {
  await calls.end(method.removeImage, () => ({ image: { image } }), call);
}

export async function imageFilesystems(calls: CriCalls, call?: RuntimeCall): Promise<readonly FilesystemUsage[]> {
  const { imageFilesystems } = await calls.unary(method.imageFsInfo, () => ({}), call);
  return imageFilesystems.map(filesystemOf);
}

export async function containerFilesystems(calls: CriCalls, call?: RuntimeCall): Promise<readonly FilesystemUsage[]> {
  const { containerFilesystems } = await calls.unary(method.imageFsInfo, () => ({}), call);
  return containerFilesystems.map(filesystemOf);
}

/** `server_address` stays empty: with `localhost:5000` in it containerd drops the credentials without a word. */
function authRequest({ username = '', password = '', auth = '', identityToken = '', registryToken = '' }: ImageAuth) {
  return { username, password, auth, identityToken, registryToken };
}

/** The longest time of a call that is not the default one; null: no limit. */
export interface CriCallOptions extends RuntimeCall {
  readonly timeoutMs?: number | null;
}

/** Calls of one connection, each with its limit. A call that fails is logged. */
export class CriCalls {
  readonly #connection: GrpcConnection;
  readonly #timeoutMs: number;
  readonly #logger: Logger;

  constructor(connection: GrpcConnection, timeoutMs: number, logger: Logger) {
    this.#connection = connection;
    this.#timeoutMs = timeoutMs;
    this.#logger = logger;
  }

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    makeRequest: MakeRequest<I>,
    { signal, timeoutMs = this.#timeoutMs }: CriCallOptions = {},
  ): Promise<MessageShape<O>> {
    try {
      return await this.#connection.unary(method, makeRequest, { signal, timeoutMs: timeoutMs ?? undefined });
    } catch (error) {
      this.#logger.debug({ method: method.name, err: error }, 'a call to the container runtime has failed');
      throw error;
    }
  }

  /** The same for a call that ends something: what is not there has ended. */
  async end<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    makeRequest: MakeRequest<I>,
    options?: CriCallOptions,
  ): Promise<void> {
    try {
      await this.unary(method, makeRequest, options);
    } catch (error) {
      if (!isRuntimeError(error, 'not-found')) throw error;
    }
  }
}

/** What an answer has to hold. Without it the call has failed. */
export function answered<T>(value: T | undefined, call: string, field: string): T {
  if (value !== undefined && value !== '') return value;
  throw rpcError('Internal', call, `the answer has no ${field}`);
}

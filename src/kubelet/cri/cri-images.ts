import type { PullImageOptions, RuntimeCall } from '../runtime/container-runtime.ts';
import type { FilesystemUsage, ImageAuth, RuntimeImage } from '../runtime/runtime-images.ts';
import { filesystemOf, imageOf } from './answers/image-answer.ts';
import { answered, type CriCalls } from './cri-calls.ts';
import { ImageService } from './proto/api_pb.ts';
import { sandboxRequest } from './requests/sandbox-request.ts';

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

/** `server_address` stays empty: with `localhost:5000` in it containerd drops the credentials without a word. */
function authRequest({ username = '', password = '', auth = '', identityToken = '', registryToken = '' }: ImageAuth) {
  return { username, password, auth, identityToken, registryToken };
}

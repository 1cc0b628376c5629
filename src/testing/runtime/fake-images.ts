import { createHash } from 'node:crypto';
import { RuntimeError } from '../../kubelet/runtime/container-runtime.ts';
import type { FilesystemUsage, ImageAuth, RuntimeImage } from '../../kubelet/runtime/runtime-images.ts';

/** An image that a {@link FakeRuntime} can pull. */
export interface FakeImage {
  /** How long the pull takes, in milliseconds. Default 0. */
  readonly pullMs?: number;
  /** The message with which the pull fails. Default: the pull succeeds. */
  readonly error?: string;
  /** The size in bytes. Default 1 MiB. */
  readonly sizeBytes?: number;
  /** The numeric user that the image names. Default: none. */
  readonly uid?: number;
  /** The user that the image names, where it is no number. Default: none. */
  readonly username?: string;
}

/** An image by all its names, as a container shows it. */
export interface NamedImage {
  readonly name: string;
  readonly image: RuntimeImage;
}

/** The images that the runtime has, by their full names. */
export class FakeImages {
  readonly #images = new Map<string, RuntimeImage>();

  /** Adds the image, and gives its id. */
  add(image: string, content: FakeImage): string {
    const name = fullImageName(image);
    const added = imageOf(name, content);
    this.#images.set(name, added);
    return added.id;
  }

  list(): readonly RuntimeImage[] {
    return [...this.#images.values()];
  }

  /** By name, id, or a name with a digest. */
  find(image: string): NamedImage | undefined {
    const name = fullImageName(image);
    for (const [key, known] of this.#images) {
      const isNamed = key === name || known.id === image || known.repoDigests.includes(name);
      if (isNamed) return { name: key, image: known };
    }
    return undefined;
  }

  remove(image: string): void {
    const found = this.find(image);
    if (found !== undefined) this.#images.delete(found.name);
  }

  usage(at: number): FilesystemUsage {
    const usedBytes = this.list().reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    return { mountpoint: '/var/lib/fake-runtime', usedBytes, inodesUsed: this.#images.size, at };
  }
}

/** What a registry answers that has every image. A name with `no-such-image` is not there. */
export function anyImage(image: string, _auth?: ImageAuth): FakeImage | undefined {
  return image.includes('no-such-image') ? undefined : {};
}

/** Throws what a runtime says of an image that the registry does not have. */
export function requireImage(image: string, found: FakeImage | undefined): FakeImage {
  if (found === undefined) {
    const name = fullImageName(image);
    throw new RuntimeError('not-found', 'PullImage', `failed to resolve reference "${name}": ${name}: not found`);
  }
  return found;
}

/** The name with its registry, folder and tag, as containerd completes it. */
function fullImageName(image: string): string {
  if (image === '' || image.startsWith('sha256:')) return image;
  const [path = '', digest] = image.split('@');
  const first = path.split('/', 1)[0] ?? '';
  const isHost = path.includes('/') && (first.includes('.') || first.includes(':') || first === 'localhost');
  const withHost = isHost ? path : `docker.io/${path.includes('/') ? path : `library/${path}`}`;
  const isTagged = withHost.lastIndexOf(':') > withHost.lastIndexOf('/');
  if (digest !== undefined) return `${withHost}@${digest}`;
  return isTagged ? withHost : `${withHost}:latest`;
}

function imageOf(name: string, { sizeBytes = 1024 * 1024, uid, username = '' }: FakeImage): RuntimeImage {
  const id = `sha256:${hashOf(`image ${name}`)}`;
  const [path = '', digest = `sha256:${hashOf(`digest ${name}`)}`] = name.split('@');
  const isTagged = path.lastIndexOf(':') > path.lastIndexOf('/');
  const repository = isTagged ? path.slice(0, path.lastIndexOf(':')) : path;
  const repoTags = name.includes('@') ? [] : [name];
  return {
    id,
    repoTags,
    repoDigests: [`${repository}@${digest}`],
    sizeBytes,
    ...(uid === undefined ? {} : { uid }),
    username,
    pinned: false,
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

import { whileGoing } from '../../base/concurrency/aborts.ts';
import type { MountedVolume } from './pod-volumes.ts';
import type { VolumeRequest } from './volume-request.ts';

/** The content of an image. The runtime mounts it; here it is only pulled. */
export async function mountImage({ pod, volume, parts, signal }: VolumeRequest): Promise<MountedVolume> {
  const { ensureImage } = parts;
  if (ensureImage === undefined) throw new Error('image volumes are not supported by this agent');
  const imageRef = await whileGoing(() => ensureImage(pod, volume, signal), signal);
  if (typeof imageRef !== 'string' || imageRef === '') throw new Error('the image was pulled, and nobody knows as what');
  return { name: volume.name, type: 'image', hostPath: '', readonly: true, selinuxRelabel: false, imageRef };
}

// Behaviour of pkg/kubelet/container HashContainer, v1.36.3.
import type { Container } from '../../api/pod/pod-containers.ts';

const offset = 0x811c9dc5;
const prime = 0x01000193;
/** What Go writes in JSON text as an escape, beyond what JavaScript does. */
const escapedByGo = /[<>&\u2028\u2029]/g;

/**
 * What a container's name and image come to: another hash means that the container has to be made anew. The kubelet gives the
 * same container the same hash.
 */
export function containerHash({ name, image }: Pick<Container, 'name' | 'image'>): string {
  const json = JSON.stringify({ image: image ?? '', name }).replace(
    escapedByGo,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return fnv32a(`([]uint8)[${Buffer.from(json).join(' ')}]`).toString(16);
}

/** The hash FNV-1a of 32 bits. */
function fnv32a(text: string): number {
  let hash = offset;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, prime);
  return hash >>> 0;
}

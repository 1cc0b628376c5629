import type { WirePod } from '../../../src/api/json/types.ts';
import { drawShape, specOf } from '../chaos/life/pod-shape.ts';
import { Prng } from '../chaos/prng.ts';

export const nodeName = 'fault-node';

/** `count` pods, each tenth of them a static one. */
export function podNames(count: number): { ordinary: string[]; fixed: string[] } {
  const names = Array.from({ length: count }, (_, i) => ({ name: `pod-${String(i).padStart(3, '0')}`, fixed: i % 10 === 9 }));
  return {
    ordinary: names.filter(({ fixed }) => !fixed).map(({ name }) => name),
    fixed: names.filter(({ fixed }) => fixed).map(({ name }) => `${name}-${nodeName}`),
  };
}

/** An ordinary pod as a user creates it, bound to the node. */
export function podManifest(name: string, prng: Prng): WirePod {
  return manifest(name, specOf(drawShape(prng)));
}

/** The agent's own pod from a file; its mirror has the same hash. */
export function staticPod(namespace: string, name: string): WirePod {
  const annotations = { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.hash': `hash-of-${name}` };
  return { ...staticManifest(name), metadata: { name, namespace, uid: `hash-of-${name}`, annotations } };
}

export function mirrorManifest(name: string): WirePod {
  const hash = `hash-of-${name}`;
  const annotations = {
    'kubernetes.io/config.source': 'file',
    'kubernetes.io/config.hash': hash,
    'kubernetes.io/config.mirror': hash,
  };
  return { ...staticManifest(name), metadata: { name, annotations } };
}

/** The same for each name. */
function staticManifest(name: string): WirePod {
  return manifest(name, specOf(drawShape(new Prng(0).fork(name), ['Always'])));
}

function manifest(name: string, spec: ReturnType<typeof specOf>): WirePod {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { nodeName, ...spec } };
}

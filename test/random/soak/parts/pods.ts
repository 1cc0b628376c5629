import type { WirePod } from '../../../../src/index.ts';
import { namespace, nodeName, type SoakWorld } from '../soak-world.ts';

/** New pods of the node on the server. */
export function createPods(world: SoakWorld, round: number, count: number, spec: object = {}): WirePod[] {
  const pods = world.store('pods');
  return Array.from({ length: count }, (_, i) => {
    const containers = [{ name: 'app', image: 'example.test/app:1' }];
    const metadata = { name: `pod-${round}-${i}`, namespace, annotations: { text: 'x'.repeat(300) } };
    const all = { nodeName, terminationGracePeriodSeconds: 1, automountServiceAccountToken: false, containers, ...spec };
    return pods.create({ metadata, spec: all } as never) as WirePod;
  });
}

/** The pods are gone from the server at once, whoever still runs them. */
export function removePods(world: SoakWorld, pods: readonly WirePod[]): void {
  for (const pod of pods) world.remove('pods', pod as never);
}

/** Users delete the pods; the node has to end them. */
export function deletePods(world: SoakWorld, pods: readonly WirePod[]): void {
  const store = world.store('pods');
  for (const { metadata } of pods) {
    const name = metadata?.name ?? '';
    if (store.has({ namespace, name })) store.delete({ namespace, name }, { gracePeriodSeconds: 1 } as never);
  }
}

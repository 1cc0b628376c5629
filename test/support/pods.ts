import type { Pod, WirePod } from '../../src/api/json/types.ts';
import { buildPod, type PodOverrides } from '../../src/testing/fakes/builders.ts';

/** What a test says of its pod; the builder says the rest. */
export interface BareParts {
  readonly metadata?: Partial<NonNullable<Pod['metadata']>>;
  readonly spec?: Partial<NonNullable<Pod['spec']>>;
  readonly status?: Pod['status'];
}

/** The library's pod with just what a test asks for: no node, no restart policy and no status of its own. */
export function barePod({ metadata, spec, status }: BareParts = {}): WirePod {
  const built = buildPod({ metadata } as PodOverrides);
  const containers = built.spec?.containers;
  return { metadata: built.metadata, spec: { containers, ...spec }, ...(status && { status }) } as WirePod;
}

type Identity = NonNullable<BareParts['metadata']> & { readonly uid: string };

/** A bare pod that pulls its images with these secrets. Its name is its uid. */
export function podPullingWith(secrets: Iterable<string>, metadata: Identity, phase?: string): WirePod {
  const spec = { containers: [], imagePullSecrets: Array.from(secrets, (name) => ({ name })) };
  return barePod({ metadata: { name: metadata.uid, ...metadata }, spec, ...(phase && { status: { phase } }) });
}

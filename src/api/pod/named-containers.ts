import type { Container } from '../../status/conditions/restart-policy.ts';
import { lookupByName } from '../json/lookup.ts';
import type { Pod } from '../json/types.ts';

/** Finds the containers of a pod: how many there are, and how many questions name them, is their pod's choice. */
export interface NamedContainers {
  readonly regular: (name: string) => Container | undefined;
  readonly init: (name: string) => Container | undefined;
}

/** Made once for all questions about a pod. */
export function namedContainers({ spec }: Pod): NamedContainers {
  return { regular: lookupByName(spec?.containers), init: lookupByName(spec?.initContainers) };
}

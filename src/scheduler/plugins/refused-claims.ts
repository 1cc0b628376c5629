import type { Plugin } from '../framework/plugin.ts';

/** Rejects a pod with `spec.resourceClaims`: predicates know nothing of them, and without this the pod would be placed as if it had none. */
export function refusedClaims(): Plugin {
  return {
    name: 'DynamicResources',
    // what a pod claims never changes
    eventsToRegister: () => [],
    preFilter(_state, { pod: { spec } }) {
      const claim = spec?.resourceClaims?.[0];
      if (claim === undefined) return 'skip';
      const reason = `resource claim ${JSON.stringify(claim.name)} needs dynamic resource allocation, which a policy does not do`;
      return { code: 'UnschedulableAndUnresolvable', reasons: [reason] };
    },
  };
}

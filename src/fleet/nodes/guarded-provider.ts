import type { PodProvider } from '../../node/provider/pod-provider.ts';

/** The calls that change what runs, and the one that takes over what another process has run. */
const changing: readonly unknown[] = ['adopt', 'createPod', 'updatePod', 'deletePod'] satisfies (keyof PodProvider)[];

/**
 * The provider, with the calls that change what runs refused once `requireOwned` throws: what another member runs is left alone. It has
 * the methods that the provider has, no more.
 */
export function guardedProvider(provider: PodProvider, requireOwned: () => void): PodProvider {
  // what is no provider is refused by the node, in words
  if (typeof provider !== 'object' || provider === null) return provider;
  // a proxy of the provider itself could not replace the methods of a frozen one
  return new Proxy({} as PodProvider, {
    get(_, name) {
      const member: unknown = Reflect.get(provider, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        if (changing.includes(name)) requireOwned();
        return Reflect.apply(member, provider, args);
      };
    },
    has: (_, name) => Reflect.has(provider, name),
  });
}

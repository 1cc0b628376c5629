import type { PodProvider } from '../../node/provider/pod-provider.ts';

/** The calls that change what runs, and the one that takes over what another process has run. */
const changing: readonly unknown[] = ['adopt', 'createPod', 'updatePod', 'deletePod'] satisfies (keyof PodProvider)[];

/**
 * The provider, with the calls that change what runs refused once `requireOwned` throws: what another member runs is left alone. It has
 * the methods that the provider has, no more.
 */
export function guardedProvider(provider: PodProvider, requireOwned: () => void): PodProvider {
  return new Proxy(provider, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        if (changing.includes(name)) requireOwned();
        return Reflect.apply(member, target, args);
      };
    },
  });
}

import { describe, expect, it } from 'vitest';
import { guardedProvider } from '../../../../src/fleet/nodes/guarded-provider.ts';
import type { PodProvider } from '../../../../src/node.ts';

/** A provider with private fields, whose methods are its class's. */
class Cloud implements PodProvider {
  readonly #calls: string[] = [];

  get calls(): readonly string[] {
    return this.#calls;
  }

  createPod(): void {
    this.#calls.push('createPod');
  }

  adopt(): void {
    this.#calls.push('adopt');
  }

  release(): void {
    this.#calls.push('release');
  }

  updatePod(): void {
    this.#calls.push('updatePod');
  }

  deletePod(): void {
    this.#calls.push('deletePod');
  }

  getPodStatus(): { phase: 'Running' } {
    this.#calls.push('getPodStatus');
    return { phase: 'Running' };
  }
}

type Called = Record<string, ((...args: unknown[]) => unknown) | undefined>;

const refuses = (): void => {
  throw new Error('another member owns it');
};
const guard = (provider: PodProvider, requireOwned = (): void => {}): Called =>
  guardedProvider(provider, requireOwned) as unknown as Called;

describe('a guarded provider', () => {
  it('makes every call of the provider while the term goes on', () => {
    const cloud = new Cloud();
    const guarded = guard(cloud);
    for (const name of ['createPod', 'updatePod', 'deletePod']) guarded[name]?.();
    expect(guarded.getPodStatus?.()).toEqual({ phase: 'Running' });
    expect(cloud.calls).toEqual(['createPod', 'updatePod', 'deletePod', 'getPodStatus']);
  });

  it('refuses the calls that change what runs once it is over, before the provider is asked; others go on', () => {
    const cloud = new Cloud();
    const guarded = guard(cloud, refuses);
    const changing = ['adopt', 'createPod', 'updatePod', 'deletePod'];
    for (const name of changing) expect(() => guarded[name]?.(), name).toThrow('another member');
    guarded.getPodStatus?.();
    guarded.release?.();
    expect(cloud.calls).toEqual(['getPodStatus', 'release']);
  });

  it('has the methods that the provider has, no more', () => {
    const guarded = guardedProvider(new Cloud(), () => {});
    expect([guarded.getPods, guarded.notifyPods]).toEqual([undefined, undefined]);
    expect(['getPods' in guarded, 'createPod' in guarded]).toEqual([false, true]);
  });

  it('guards a provider that is frozen', () => {
    const frozen = Object.freeze({ createPod: () => 'made', deletePod: () => {}, getPodStatus: () => undefined });
    expect(guard(frozen).createPod?.()).toBe('made');
    expect(() => guard(frozen, refuses).createPod?.()).toThrow('another member');
  });

  it.each([undefined, null, 'cloud'])('leaves %j to those who check what a provider is', (provider) => {
    expect(guardedProvider(provider as never, () => {})).toBe(provider);
  });
});

import { describe, expect, it } from 'vitest';
import type { PodProvider } from '../../../../src/node/provider/pod-provider.ts';
import { providedPodProblem } from '../../../../src/node/provider/provider-problems.ts';
import { never, ProviderWorld } from './provider-world.ts';

/** What is wrong with the pod `web`. */
function messageOf(world: ProviderWorld): string | undefined {
  const record = world.syncer.pods.find(world.store.get('default', 'web').metadata?.uid ?? '');
  return record && providedPodProblem(record, world.clock.now())?.message;
}

describe('a call of the provider that fails', () => {
  const fails = (words: string) => (): never => {
    throw new Error(words);
  };
  const refused = 'Expected `status` to be a pod status, or undefined, got 42 (number)';

  it.each<[string, Partial<PodProvider>]>([
    ['createPod() failed: quota exceeded', { createPod: fails('quota exceeded') }],
    ['createPod() failed: no room', { createPod: fails('createPod() failed: no room') }],
    ['createPod() failed: undefined was thrown', { createPod: () => Promise.reject(undefined) }],
    ['createPod() has not settled within 20 s', { createPod: never }],
    ['getPodStatus() failed: cloud: 500', { getPodStatus: fails('cloud: 500') }],
    [`getPodStatus() gave an answer that is refused: ${refused}`, { getPodStatus: (() => 42) as never }],
    ['getPodStatus() gave no answer within 30000 ms', { getPodStatus: never }],
  ])('is named once: %s', async (message, methods) => {
    const provider: PodProvider = { createPod() {}, deletePod() {}, getPodStatus: () => undefined, ...methods };
    await using world = new ProviderWorld({ provider, changeTimeoutMs: 20_000 });
    await world.create('web');
    await world.clock.advance(35_000);
    expect(messageOf(world)?.split(': it was called')[0]).toBe(message);
  });
});

import { expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { safeClock } from '../../../../src/base/clock.ts';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { ProvidedPods } from '../../../../src/node/provider/provided-pods.ts';
import { buildPod, buildStaticPod } from '../../../../src/testing/fakes/builders.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';

const named = (name: string, uid: string): Pod => buildPod({ metadata: { name, uid } });

function podsOf(listed: readonly Pod[] = []): ProvidedPods {
  const provider = { createPod() {}, deletePod() {}, getPodStatus: () => undefined, getPods: () => listed };
  const clock = safeClock(new FakeClock());
  return new ProvidedPods({ provider, nodeName: undefined, namespace: undefined, clock, logger: silentLogger });
}

it('a pod of the same name is found without a look at the others', async () => {
  const count = 1000;
  let reads = 0;
  const counting = (pod: Pod): Pod => {
    const { metadata } = pod;
    return Object.defineProperty({ ...pod }, 'metadata', {
      enumerable: true,
      get: () => {
        reads += 1;
        return metadata;
      },
    });
  };
  const names = Array.from({ length: count }, (_, index) => `pod-${index}`);
  const pods = podsOf(names.map((name) => counting(named(`listed-${name}`, `listed-${name}`))));
  await pods.list(new AbortController().signal);
  for (const name of names) expect(pods.namesakeOf(pods.take(counting(named(name, name))))).toBeUndefined();
  expect(reads).toBeLessThan(60 * count);
});

it('a pod of the same name is one that its provider has, or lists, and no static one', async () => {
  const pods = podsOf([named('listed', 'listed-1'), buildStaticPod({ metadata: { name: 'fixed', uid: 'fixed-1' } })]);
  await pods.list(new AbortController().signal);
  const first = pods.take(named('web', 'web-1'));
  const second = pods.take(named('web', 'web-2'));
  expect(pods.namesakeOf(second)).toBeUndefined();
  first.isHeld = true;
  expect([pods.namesakeOf(second), pods.namesakeOf(first)]).toEqual(['web-1', undefined]);
  first.isDeleted = true;
  expect(pods.namesakeOf(second)).toBeUndefined();
  expect(pods.namesakeOf(pods.take(named('listed', 'listed-2')))).toBe('listed-1');
  expect(pods.namesakeOf(pods.take(named('fixed', 'fixed-2')))).toBeUndefined();
  // what is over is forgotten with its name
  first.noteGone();
  pods.noteTerminated(first);
  expect(pods.find('web-1')).toBeUndefined();
  expect(pods.namesakeOf(second)).toBeUndefined();
});

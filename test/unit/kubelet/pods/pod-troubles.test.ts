import { describe, expect, it } from 'vitest';
import { PodTroubles } from '../../../../src/kubelet/pods/pod-troubles.ts';
import { buildPod, FakeClock } from '../../../../src/testing.ts';

const pod = buildPod({ metadata: { name: 'web', uid: 'u1' } });
const words = { kind: 'volume', message: 'no disk', help: 'Give it one.' };

function setUp() {
  const clock = new FakeClock({ start: 1000 });
  return { clock, troubles: new PodTroubles(clock) };
}

describe('PodTroubles', () => {
  it('counts the failures of each part since the first one', async () => {
    const { clock, troubles } = setUp();
    troubles.failed(pod, 'preparation', words, { retryAt: 2000 });
    await clock.advance(500);
    troubles.failed(pod, 'preparation', { ...words, message: 'still no disk' });
    troubles.failed(pod, 'container app', words, { attempt: 7 });
    expect(Object.fromEntries(troubles.of('u1'))).toEqual({
      preparation: { ...words, message: 'still no disk', since: 1000, attempt: 2, retryAt: undefined },
      'container app': { ...words, since: 1500, attempt: 7, retryAt: undefined },
    });
    expect(troubles.pods()).toEqual([{ podUID: 'u1', podNamespace: 'default', podName: 'web' }]);
  });

  it('changes the next try alone of what waits', () => {
    const { troubles } = setUp();
    expect(troubles.waits('u1', 'container app', 5000)).toBe(false);
    troubles.failed(pod, 'container app', words);
    expect(troubles.waits('u1', 'container app', 5000)).toBe(true);
    expect(troubles.of('u1').get('container app')).toEqual({ ...words, since: 1000, attempt: 1, retryAt: 5000 });
  });

  it('keeps nothing of a part that has succeeded, of what matters no more, and of a pod that is forgotten', () => {
    const { troubles } = setUp();
    for (const part of ['a', 'b', 'c']) troubles.failed(pod, part, words);
    troubles.cleared('u1', 'a');
    expect([...troubles.of('u1').keys()]).toEqual(['b', 'c']);
    troubles.keepOnly('u1', (part) => part === 'c');
    expect([...troubles.of('u1').keys()]).toEqual(['c']);
    troubles.cleared('u1', 'c');
    expect(troubles.pods()).toEqual([]);
    troubles.failed(pod, 'a', words);
    troubles.forget('u1');
    expect([troubles.pods(), troubles.of('u1').size]).toEqual([[], 0]);
  });

  it('keeps a bounded part of a message', () => {
    const { troubles } = setUp();
    troubles.failed(pod, 'a', { ...words, message: 'x'.repeat(100_000) });
    expect(troubles.of('u1').get('a')?.message).toHaveLength(1000);
  });
});

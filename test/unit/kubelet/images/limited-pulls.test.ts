import { describe, expect, it } from 'vitest';
import { limitedPulls } from '../../../../src/kubelet/images/image-puller.ts';
import { FakeClock } from '../../../../src/testing.ts';

function setUp(perSecond: number, burst: number) {
  const clock = new FakeClock();
  const pulled: string[] = [];
  const images = limitedPulls(
    {
      imageStatus: async () => undefined,
      pullImage: async (image) => {
        pulled.push(image);
        return `ref-of-${image}`;
      },
    },
    { perSecond, burst, clock },
  );
  const pull = (image: string): Promise<string> =>
    images.pullImage(image, { signal: new AbortController().signal }).catch((error: Error) => error.message);
  return { clock, pulled, pull };
}

describe('limited pulls', () => {
  it('begin as many at once as the burst says, and fail beyond that without a call of the runtime', async () => {
    const { pulled, pull } = setUp(5, 2);
    expect([await pull('a'), await pull('b'), await pull('c')]).toEqual(['ref-of-a', 'ref-of-b', 'pull QPS exceeded']);
    expect(pulled).toEqual(['a', 'b']);
  });

  it('begin again as many in a second as the rate says, and never more than the burst', async () => {
    const { clock, pull } = setUp(5, 2);
    for (const image of ['a', 'b']) await pull(image);
    await clock.advance(199);
    expect(await pull('c')).toBe('pull QPS exceeded');
    await clock.advance(1);
    expect([await pull('d'), await pull('e')]).toEqual(['ref-of-d', 'pull QPS exceeded']);
    await clock.advance(60_000);
    expect([await pull('f'), await pull('g'), await pull('h')]).toEqual(['ref-of-f', 'ref-of-g', 'pull QPS exceeded']);
  });

  it('are not limited where the rate is 0', async () => {
    const { pull } = setUp(0, 0);
    expect([await pull('a'), await pull('b')]).toEqual(['ref-of-a', 'ref-of-b']);
  });
});

import { describe, expect, it } from 'vitest';
import { ReviewCache } from '../../../../src/client/reviews/reviews.ts';
import { FakeClock } from '../../../../src/testing.ts';

function setUp(most = 2) {
  const clock = new FakeClock();
  const asked: string[] = [];
  const cache = new ReviewCache<string>({ clock, most, keepMs: () => 60_000 });
  const ask = (question: string): Promise<string> =>
    cache.answer(question, async () => {
      asked.push(question);
      return question;
    });
  return { clock, asked, ask };
}

describe('the answers to reviews that are kept', () => {
  it('are no more than the limit: the one that was used least lately goes', async () => {
    const { ask, asked } = setUp();
    for (const question of ['a', 'b', 'a', 'c', 'a', 'b']) await ask(question);
    expect(asked).toEqual(['a', 'b', 'c', 'b']);
  });

  it.each([
    -3_600_000, 3_600_000,
  ])('count as long as they may, and no longer, also when the wall clock is moved by %i ms', async (ms) => {
    const { clock, ask, asked } = setUp();
    await ask('a');
    clock.jump(ms);
    await clock.advance(59_000);
    await ask('a');
    expect(asked).toEqual(['a']);
    await clock.advance(1000);
    await ask('a');
    expect(asked).toEqual(['a', 'a']);
  });
});

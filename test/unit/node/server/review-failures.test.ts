import { describe, expect, it } from 'vitest';
import { ReviewFailures } from '../../../../src/node/server/review-failures.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';

function world() {
  const clock = new FakeClock();
  const lines: [object, string][] = [];
  const infos: [object, string][] = [];
  const warn = (fields: object, message: string): void => void lines.push([fields, message]);
  const info = (fields: object, message: string): void => void infos.push([fields, message]);
  const failures = new ReviewFailures({ clock, logger: { debug: warn, info, warn, error: warn } });
  return { clock, lines, infos, failures };
}

const sender = "nobody can say who sends a request to the node's API (TokenReview)";
const right = "nobody can say what the sender of a request to the node's API may do (SubjectAccessReview)";

describe('reviews that the apiserver does not give', () => {
  it('are a problem of each kind, which a success of that kind ends', async () => {
    const { clock, failures, infos } = world();
    failures.failed('right', new Error('no right'), {});
    await clock.advance(2000);
    failures.failed('sender', new Error('no answer'), {});
    failures.failed('right', new Error('no right yet'), {});
    expect(failures.problems()).toMatchObject([
      { kind: 'reviews', message: `${sender}: no answer`, since: clock.now(), attempt: 1 },
      { kind: 'reviews', message: `${right}: no right yet`, since: clock.now() - 2000, attempt: 2 },
    ]);
    failures.succeeded('sender');
    expect(failures.problems()).toMatchObject([{ message: `${right}: no right yet` }]);
    failures.succeeded('right');
    expect(failures.problems()).toEqual([]);
    const told = "the apiserver says again what the sender of a request to the node's API may do";
    expect(infos.at(-1)).toEqual([{ attempt: 2, failingForMs: 2000 }, told]);
  });

  it('have a line at the first failure, then with pauses that grow from 10 s to 5 min, however many requests come', async () => {
    const { clock, failures, lines } = world();
    const at: number[] = [];
    const begun = clock.now();
    for (let i = 0; i < 1800; i++) {
      const before = lines.length;
      failures.failed('right', new Error('no'), { username: 'eve' });
      if (lines.length > before) at.push((clock.now() - begun) / 1000);
      await clock.advance(1000);
    }
    expect(at).toEqual([0, 10, 30, 70, 150, 310, 610, 910, 1210, 1510]);
    expect(lines[0]).toEqual([
      { err: new Error('no'), username: 'eve', problemKind: 'reviews', attempt: 1, failingForMs: 0, help: expect.any(String) },
      right,
    ]);
  });

  it('are forgotten five minutes after the last one', async () => {
    const { clock, failures } = world();
    failures.failed('sender', new Error('no'), {});
    await clock.advance(299_999);
    expect(failures.problems()).toHaveLength(1);
    await clock.advance(1);
    expect(failures.problems()).toEqual([]);
  });
});

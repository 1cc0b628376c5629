import { describe, expect, it } from 'vitest';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { configMap, refusal, refused, setUp, startedSetUp } from './fake-api.ts';

const again = 'listing and watching work again';

describe('a reflector that hears from the server again', () => {
  it('has one line after lists that failed, and none before any has', async () => {
    const { logger, saying } = recordedLines();
    await using test = setUp({ streamLists: false, logger });
    test.api.failures.list.push(refusal(500, 'InternalError'), refusal(500, 'InternalError'));
    void test.reflector.start().catch(() => {});
    await test.settle();
    expect(saying(again)).toEqual([]);
    await test.clock.advance(60_000);
    expect(saying(again)).toEqual([
      {
        level: 'info',
        message: again,
        fields: { resource: 'configmaps', path: '/api/v1/configmaps', attempt: 2, failingForMs: expect.any(Number) },
      },
    ]);
    test.api.latest.send('ADDED', configMap('b', '11'));
    await test.settle();
    expect(saying(again)).toHaveLength(1);
  });

  it('has one line after watches that failed, and says nothing of what comes after it', async () => {
    const { logger, saying } = recordedLines();
    await using test = await startedSetUp({ logger });
    test.api.failures.watch.push(refused(), refused());
    test.api.latest.fail(refused());
    await test.clock.advance(60_000);
    test.api.latest.bookmark('12');
    test.api.latest.bookmark('13');
    await test.settle();
    expect(saying(again)).toMatchObject([{ fields: { attempt: 3 } }]);
  });

  it('has none while lists succeed and watches do not: a right is missing', async () => {
    const { logger, saying } = recordedLines();
    await using test = setUp({ streamLists: false, logger });
    const forbidden = refusal(403, 'Forbidden');
    test.api.failures.watch.push(...Array(50).fill(forbidden));
    await test.reflector.start();
    await test.clock.advance(120_000);
    const failures = saying('listing or watching failed').length;
    expect(failures).toBeGreaterThan(2);
    expect(test.api.log.filter((line) => line.startsWith('list')).length).toBeGreaterThan(2);
    expect(saying(again)).toEqual([]);
    test.api.failures.watch.length = 0;
    await test.clock.advance(60_000);
    test.api.latest.send('ADDED', configMap('b', '11'));
    await test.settle();
    expect(saying(again)).toMatchObject([{ fields: { attempt: failures } }]);
  });
});

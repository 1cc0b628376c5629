import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import { MetricsRecorder } from '../../../support/metrics-recorder.ts';
import { configMap, refusal, refused, startedSetUp, type Test, tooLarge } from './fake-api.ts';

const restarts = 'pod_status_manager_reflector_restarts_total';
const of = { reflector: 'configmaps' };

describe('the metrics of a reflector', () => {
  it.each<[reason: string, happens: (test: Test) => void]>([
    ['ended', ({ api }) => api.latest.end()],
    ['expired', ({ api }) => api.latest.expire()],
    ['silent', ({ api }) => api.latest.fail(new ApiError({ reason: 'Timeout', message: 'nothing heard' }))],
    ['throttled', ({ api }) => api.latest.fail(refusal(429, 'TooManyRequests'))],
    ['stale', ({ api }) => api.latest.fail(tooLarge())],
    ['refused', ({ api }) => api.latest.fail(refusal(403, 'Forbidden'))],
    ['broken-answer', ({ api }) => api.latest.send('ADDED', { metadata: {} })],
    ['network', ({ api }) => api.latest.fail(refused())],
    ['network', ({ api }) => api.latest.fail(new ApiError({ status: 200, reason: 'Network', message: 'reset' }))],
  ])('name why a watch begins again: %s', async (reason, happens) => {
    const metrics = new MetricsRecorder();
    await using test = await startedSetUp({ metrics });
    expect(metrics.value(restarts, { ...of, reason })).toBe(0);
    happens(test);
    await test.settle();
    expect([metrics.nonZero(restarts), metrics.mistakes]).toEqual([{ [`${reason},configmaps`]: 1 }, []]);
  });

  it('count the lists that were taken, and those that failed as restarts', async () => {
    const metrics = new MetricsRecorder();
    await using test = await startedSetUp({ metrics, streamLists: false });
    expect(metrics.value('pod_status_manager_reflector_lists_total', of)).toBe(1);
    test.api.failures.list.push(refusal(500, 'InternalError'));
    test.api.latest.expire();
    await test.clock.advance(60_000);
    expect(metrics.value('pod_status_manager_reflector_lists_total', of)).toBe(2);
    expect(metrics.value(restarts, { ...of, reason: 'refused' })).toBe(1);
  });

  it('show how long the server has been silent, and what the store holds', async () => {
    const metrics = new MetricsRecorder();
    await using test = await startedSetUp({ metrics, name: 'ours' });
    const shown = (): unknown[] => {
      metrics.collect();
      return ['silence_seconds', 'synced', 'objects'].map((name) =>
        metrics.value(`pod_status_manager_reflector_${name}`, { reflector: 'ours' }),
      );
    };
    await test.clock.advance(40_000);
    test.clock.jump(-3_600_000);
    expect(shown()).toEqual([40, 1, 1]);
    test.clock.jump(7_200_000);
    expect(shown()).toEqual([40, 1, 1]);
    test.api.latest.send('ADDED', configMap('b', '11'));
    await test.clock.advance(1_000);
    expect(shown()).toEqual([1, 1, 2]);
    await test.reflector.pause();
    expect(shown()).toEqual([0, 0, 2]);
    await test.reflector.stop();
    expect([metrics.readers, metrics.mistakes, test.clock.pendingTimers]).toEqual([0, [], 0]);
  });

  it('refuse a name that is no text', async () => {
    await expect(startedSetUp({ name: '' })).rejects.toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
  });
});

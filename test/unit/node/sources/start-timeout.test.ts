import { describe, expect, it } from 'vitest';
import { Reflector, resources } from '../../../../src/reflector.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { FakeApi } from '../../client/reflector/fake-api.ts';
import { answerList, pod, refuse, setUp } from './pod-source-server.ts';

describe('the start of a pod source', () => {
  it('that takes too long says what the server answers; the source goes on, and starts all the same', async () => {
    await using test = await setUp([refuse(403), refuse(403), answerList([pod('a')], '10')]);
    const started = expect(test.source.start({ timeoutMs: 100 })).rejects.toMatchObject({
      ...{ code: 'ERR_START_TIMEOUT', cause: { status: 403 } },
      message: expect.stringMatching(/^The pod source has not started within 100 ms: the pods are not listed: ./),
    });
    await until(() => test.source.lastFailure() !== undefined);
    await test.clock.advance(100);
    await started;
    expect(test.source.state).toBe('running');
    while (test.calls.length === 0) await test.clock.advance(1000);
    expect(test.calls).toContain('addPod a');
  });

  it('that a signal ends rejects with its reason', async () => {
    await using test = await setUp([refuse(403)]);
    const controller = new AbortController();
    const started = expect(test.source.start({ signal: controller.signal })).rejects.toThrow('enough');
    controller.abort(new Error('enough'));
    await started;
    await test.source.stop();
    expect(test.clock.pendingTimers).toBe(0);
  });

  it('with wrong options, or a signal that has aborted, starts nothing', async () => {
    await using test = await setUp();
    await expect(test.source.start({ timeoutMs: -1 })).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
    await expect(test.source.start({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
    expect(test.source.state).toBe('idle');
    await test.source.start({ timeoutMs: 1000 });
    expect(test.source.state).toBe('running');
  });
});

describe('the start of a reflector', () => {
  it('that takes too long names the objects, also while the server says nothing', async () => {
    const clock = new FakeClock();
    const api = new FakeApi();
    const reflector = new Reflector({
      transport: api as never,
      resource: resources.secrets,
      namespace: 'x',
      clock,
      logger: null,
    });
    api.failures.list.push('hold');
    api.failures.stream.push('hold');
    const started = expect(reflector.start({ timeoutMs: 50 })).rejects.toMatchObject({
      code: 'ERR_START_TIMEOUT',
      message:
        'The reflector has not started within 50 ms: the objects of /api/v1/namespaces/x/secrets are not listed: the server has not answered',
    });
    await clock.advance(50);
    await started;
    await reflector.stop();
  });
});

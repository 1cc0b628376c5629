import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import { PodConfig } from '../../../../src/node.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { podNamed, taken } from './config-pods.ts';

const never = { lastObservedAt: undefined, lastError: undefined };

describe('PodConfig.explain', () => {
  it('says of each source whether it has sent its pods, how many, and why it could not', async () => {
    const config = new PodConfig();
    const send = config.channel('static');
    const error = new ApiError({ status: 403, reason: 'Forbidden', message: 'pods is forbidden' });
    const failing = { start() {}, stop() {}, lastObservedAt: () => 5, lastFailure: () => ({ error, at: 6, retryAt: 7 }) };
    config.addSource('api', failing);
    expect(config.explain()).toEqual([
      { name: 'static', hasSent: false, isWaiting: false, pods: 0, leftOut: [], ...never },
      {
        ...{ name: 'api', hasSent: false, isWaiting: false, pods: 0, leftOut: [], lastObservedAt: 5 },
        lastError: {
          ...{ errorClass: 'forbidden', kind: 'forbidden', message: 'pods is forbidden', at: 6, retryAt: 7 },
          ...{ since: 6, attempt: 1 },
          help: expect.stringContaining('deploy/rbac.yaml'),
        },
      },
    ]);
    send([podNamed('a'), podNamed('b')]);
    await taken(config);
    expect(config.explain()[0]).toEqual({ name: 'static', hasSent: true, isWaiting: false, pods: 2, leftOut: [], ...never });
  });

  it('takes over since when a source fails, and how often', () => {
    const config = new PodConfig();
    const lastFailure = () => ({ error: new Error('no'), at: 6, retryAt: 7, since: 2, attempt: 3 });
    config.addSource('api', { start() {}, stop() {}, lastFailure });
    expect(config.explain()).toMatchObject([{ lastError: { at: 6, retryAt: 7, since: 2, attempt: 3 } }]);
  });

  it('says that a newer list waits for the consumer', () => {
    const config = new PodConfig({ capacity: 8 });
    const send = config.channel('static');
    for (let i = 0; i < 12; i += 1) send([podNamed(`p${i}`)]);
    expect(config.explain()).toMatchObject([{ name: 'static', hasSent: true, isWaiting: true, pods: 1 }]);
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('no'))],
    ['gives text', () => 'yesterday'],
    ['gives an object of its own', () => ({ at: 'now' })],
    ['counts in words', () => ({ at: 6, retryAt: 7, attempt: 'many' })],
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
  ])('takes a source that %s', (_, ask) => {
    const config = new PodConfig();
    config.addSource('odd', { start() {}, stop() {}, lastFailure: ask, lastObservedAt: ask } as never);
    expect(config.explain()).toMatchObject([{ name: 'odd', ...never }]);
  });

  it('names the pods that are left out, each since it was first, and at most a hundred', async () => {
    const clock = new FakeClock({ start: 1000 });
    const config = new PodConfig({ clock, logger: null });
    const send = config.channel('static');
    const second = { ...podNamed('a'), metadata: { ...podNamed('a').metadata, uid: 'other' } };
    send([podNamed('a'), second]);
    await taken(config);
    await clock.advance(500);
    send([podNamed('a'), second, podNamed('b')]);
    await taken(config);
    const { namespace: podNamespace, name: podName } = podNamed('a').metadata ?? {};
    expect(config.explain()[0]?.leftOut).toEqual([{ podUID: 'other', podNamespace, podName, same: 'name', since: 1000 }]);
    send([podNamed('a'), podNamed('b')]);
    await taken(config);
    expect(config.explain()[0]?.leftOut).toEqual([]);
    send(Array.from({ length: 300 }, (_, i) => ({ ...podNamed('a'), metadata: { ...podNamed('a').metadata, uid: `u${i}` } })));
    await taken(config);
    expect(config.explain()[0]?.leftOut).toHaveLength(100);
  });
});

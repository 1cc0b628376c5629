import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import { PodConfig } from '../../../../src/node.ts';
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
      { name: 'static', hasSent: false, isWaiting: false, pods: 0, ...never },
      {
        ...{ name: 'api', hasSent: false, isWaiting: false, pods: 0, lastObservedAt: 5 },
        lastError: {
          ...{ errorClass: 'forbidden', kind: 'forbidden', message: 'pods is forbidden', at: 6, retryAt: 7 },
          help: expect.stringContaining('deploy/rbac.yaml'),
        },
      },
    ]);
    send([podNamed('a'), podNamed('b')]);
    await taken(config);
    expect(config.explain()[0]).toEqual({ name: 'static', hasSent: true, isWaiting: false, pods: 2, ...never });
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
});

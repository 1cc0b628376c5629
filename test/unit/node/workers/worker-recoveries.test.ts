import { describe, expect, it } from 'vitest';
import { BackoffError } from '../../../../src/node/workers/backoff-error.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { pod, World } from './workers-world.ts';

const again = 'a pod is synced again';

describe('a pod that is synced again', () => {
  it('has one line, with the failures before it', async () => {
    const { logger, saying } = recordedLines();
    const world = new World({ logger });
    await world.update('create', pod('u1'));
    world.open.get('u1')?.reject(new Error('no room'));
    await world.clock.advance(10_000);
    await world.update('sync', pod('u1'));
    world.open.get('u1')?.reject(new Error('no room'));
    await world.clock.advance(10_000);
    expect(saying(again)).toEqual([]);
    for (let calls = 0; calls < 2; calls += 1) {
      await world.update('sync', pod('u1'));
      world.open.get('u1')?.resolve({ isTerminal: false });
      await world.clock.advance(0);
    }
    const names = { podUID: 'u1', podNamespace: 'd', podName: 'pod-u1' };
    expect(saying(again)).toEqual([
      { level: 'info', message: again, fields: { ...names, state: 'sync', attempt: 2, failingForMs: 20_000 } },
    ]);
    await world.workers.stop();
  });

  it('has none where the pod only waited for the end of a backoff', async () => {
    const { logger, of } = recordedLines();
    const world = new World({ logger });
    await world.update('create', pod('u1'));
    world.open.get('u1')?.reject(new BackoffError('later', world.clock.now() + 1000));
    await world.clock.advance(10_000);
    await world.update('sync', pod('u1'));
    world.open.get('u1')?.resolve({ isTerminal: false });
    await world.clock.advance(0);
    expect(of('info', 'warn', 'error')).toEqual([]);
    await world.workers.stop();
  });
});

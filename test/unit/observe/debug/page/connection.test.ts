import { describe, expect, it } from 'vitest';
import type { DebugChanges, DebugSnapshot } from '../../../../../src/observe/debug/debug-api.ts';
import { FakeClock } from '../../../../../src/testing.ts';
import { Connection, type StreamListener } from '../../../../../tools/page/src/model/connection.ts';
import { podRow, summaryOf } from '../../../../real/browser/debug-page/sample-pods.ts';

const snapshot: DebugSnapshot = { summary: summaryOf([]), traffic: [], pods: [podRow(1)] };
const changes: DebugChanges = { summary: summaryOf([]), traffic: [], changed: [], removed: ['uid'] };

/** A connection on a clock that stands still, with everything that it did. */
function setUp(onOpen = (_: StreamListener): void => {}) {
  const clock = new FakeClock();
  const streams: StreamListener[] = [];
  const log: string[] = [];
  const connection = new Connection({
    openStream: (listener) => {
      const name = `stream ${streams.push(listener)}`;
      log.push(`${name} opened`);
      onOpen(listener);
      return () => log.push(`${name} closed`);
    },
    setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
    now: () => clock.now(),
    onState: ({ kind }) => log.push(kind),
    onSnapshot: () => log.push('snapshot'),
    onChanges: () => log.push('changes'),
  });
  const logged = (): string[] => log.splice(0);
  return { clock, connection, streams, logged };
}

describe('Connection', () => {
  it('is live from the first snapshot on', () => {
    const { connection, streams, logged } = setUp();
    connection.start();
    expect(logged()).toEqual(['connecting', 'stream 1 opened']);
    streams[0]?.onChanges(changes);
    expect(logged()).toEqual([]);
    streams[0]?.onSnapshot(snapshot);
    streams[0]?.onChanges(changes);
    expect(logged()).toEqual(['snapshot', 'live', 'changes']);
  });

  it('opens a stream that has ended again, after waits that double up to eight seconds', async () => {
    const { clock, connection, streams, logged } = setUp();
    connection.start();
    for (const waitMs of [500, 1000, 2000, 4000, 8000, 8000]) {
      const opened = streams.length;
      streams.at(-1)?.onEnd();
      expect(connection.state).toEqual({ kind: 'waiting', at: clock.now() + waitMs });
      await clock.advance(waitMs - 1);
      expect(streams).toHaveLength(opened);
      await clock.advance(1);
      expect(streams).toHaveLength(opened + 1);
    }
    expect(logged().filter((line) => line.endsWith('closed'))).toHaveLength(6);
  });

  it('waits shortly again once a snapshot came', async () => {
    const { clock, connection, streams } = setUp();
    connection.start();
    streams[0]?.onEnd();
    await clock.advance(500);
    streams[1]?.onSnapshot(snapshot);
    streams[1]?.onEnd();
    expect(connection.state).toEqual({ kind: 'waiting', at: clock.now() + 500 });
  });

  it('does not heed a stream that another has followed', async () => {
    const { clock, connection, streams, logged } = setUp();
    connection.start();
    streams[0]?.onEnd();
    await clock.advance(500);
    logged();
    streams[0]?.onSnapshot(snapshot);
    streams[0]?.onEnd();
    expect(logged()).toEqual([]);
  });

  it('takes a stream that says nothing for 40 seconds for dead', async () => {
    const { clock, connection, streams, logged } = setUp();
    connection.start();
    streams[0]?.onSnapshot(snapshot);
    await clock.advance(39_000);
    streams[0]?.onChanges(changes);
    await clock.advance(39_999);
    expect(connection.state.kind).toBe('live');
    logged();
    await clock.advance(1);
    expect(logged()).toEqual(['stream 1 closed', 'waiting']);
  });

  it('can be paused and resumed in every state, and leaves no timer', async () => {
    const { clock, connection, streams, logged } = setUp();
    connection.start();
    streams[0]?.onSnapshot(snapshot);
    connection.pause();
    expect([connection.state.kind, clock.pendingTimers]).toEqual(['paused', 0]);
    logged();
    streams[0]?.onChanges(changes);
    streams[0]?.onEnd();
    await clock.advance(60_000);
    expect(logged()).toEqual([]);
    connection.start();
    streams[1]?.onEnd();
    connection.pause();
    expect([connection.state.kind, clock.pendingTimers]).toEqual(['paused', 0]);
  });

  it('tries at once when it is hurried while it waits, and only then', () => {
    const { clock, connection, streams } = setUp();
    connection.start();
    connection.hurry();
    expect(streams).toHaveLength(1);
    streams[0]?.onEnd();
    connection.hurry();
    expect([streams.length, connection.state.kind, clock.pendingTimers]).toEqual([2, 'connecting', 1]);
    connection.pause();
    connection.hurry();
    expect(streams).toHaveLength(2);
  });

  it('bears a stream that ends while it is opened', async () => {
    const { clock, connection, streams, logged } = setUp((listener) => listener.onEnd());
    connection.start();
    expect(logged()).toEqual(['connecting', 'stream 1 opened', 'waiting', 'stream 1 closed']);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(500);
    expect(streams).toHaveLength(2);
    connection.pause();
    expect(clock.pendingTimers).toBe(0);
  });
});

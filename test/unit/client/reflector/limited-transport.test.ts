import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { LimitedTransport } from '../../../../src/client/reflector/limited-transport.ts';
import type { KubeStream } from '../../../../src/client/transport/kube-transport.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { podWith, secretWorld } from '../../node/object-managers/object-managers-world.ts';
import { configMap, setUp } from './fake-api.ts';

/** A transport that lists one config map, and heeds no signal: its calls settle never, lists only when `listsHang`. */
function hungTransport({ listsHang = false } = {}) {
  const streams: KubeStream[] = [];
  let lists = 0;
  const never = <T>(): Promise<T> => new Promise(() => {});
  return {
    streams,
    lists: () => lists,
    request: async () => {
      lists += 1;
      return listsHang ? never<never>() : { metadata: { resourceVersion: '10' }, items: [configMap('a', '10')] };
    },
    stream: (stream: KubeStream) => {
      streams.push(stream);
      return never<void>();
    },
  };
}

function eventOf(name: string, version: string): Buffer {
  return Buffer.from(`${JSON.stringify({ type: 'ADDED', object: configMap(name, version) })}\n`);
}

describe('a reflector whose transport heeds no signal', () => {
  it.each([false, true])('stops a second later, and hears of nothing afterwards (lists hang: %s)', async (listsHang) => {
    const transport = hungTransport({ listsHang });
    const { reflector, clock, calls } = setUp({ transport, streamLists: false });
    reflector.start().catch(() => {});
    await settle();
    calls.length = 0;
    let stopped = false;
    const end = reflector.stop().then(() => {
      stopped = true;
    });
    await clock.advance(999);
    expect(stopped).toBe(false);
    await clock.advance(1);
    await end;
    transport.streams[0]?.onChunk(eventOf('late', '11'));
    expect([clock.pendingTimers, reflector.store.get('default', 'late'), calls]).toEqual([0, undefined, []]);
  });

  it('goes on after pause() and resume()', async () => {
    const transport = hungTransport();
    const { reflector, clock, calls } = setUp({ transport, streamLists: false });
    await reflector.start();
    await settle();
    let paused = false;
    void reflector.pause().then(() => {
      paused = true;
    });
    reflector.resume();
    await clock.advance(1000);
    expect([paused, transport.lists(), transport.streams.length, reflector.hasSynced]).toEqual([true, 2, 2, true]);
    transport.streams[0]?.onChunk(eventOf('late', '11'));
    transport.streams[1]?.onChunk(eventOf('b', '12'));
    expect(calls).toEqual(['added a 10', 'synced', 'synced', 'added b 12']);
    void reflector.stop();
    await clock.advance(1000);
  });
});

describe('a secret manager whose transport heeds no signal', () => {
  it('stops a second later', async () => {
    const { clock, manager } = secretWorld({ transport: hungTransport() });
    manager.registerPod(podWith('p', ['s']));
    await settle();
    let stopped = false;
    void manager.stop().then(() => {
      stopped = true;
    });
    await clock.advance(1000);
    expect([stopped, clock.pendingTimers]).toEqual([true, 0]);
  });
});

describe('LimitedTransport', () => {
  it('gives an aborted call up at once when the clock sets no timer', async () => {
    const clock = new FakeClock();
    const stopping = new AbortController();
    const transport = new LimitedTransport(hungTransport({ listsHang: true }), clock);
    const call = transport.request({ method: 'GET', path: '/a', signal: stopping.signal });
    clock.setTimer = () => {
      throw new Error('no timer');
    };
    stopping.abort();
    await expect(call).rejects.toMatchObject({ reason: 'Aborted' });
  });

  it('passes on what a transport throws', async () => {
    const fail = () => {
      throw new Error('thrown');
    };
    const clock = new FakeClock();
    const transport = new LimitedTransport({ request: fail, stream: fail }, clock);
    await expect(transport.request({ method: 'GET', path: '/a' })).rejects.toThrow('thrown');
    const stream = { method: 'GET', path: '/a', idleTimeoutMs: 1000, onChunk: () => {} } as const;
    await expect(transport.stream(stream)).rejects.toThrow('thrown');
    expect(clock.pendingTimers).toBe(0);
  });
});

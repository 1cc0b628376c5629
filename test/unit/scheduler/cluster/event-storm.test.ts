import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import type { KubeRequest } from '../../../../src/index.ts';
import { eventWriter } from '../../../../src/scheduler/cluster/event-writer.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';

/** A server that takes its time: the test answers. */
function slowServer() {
  const open: (() => void)[] = [];
  let most = 0;
  let written = 0;
  const request = async ({ body }: KubeRequest) => {
    const answered = Promise.withResolvers<void>();
    open.push(answered.resolve);
    most = Math.max(most, open.length);
    await answered.promise;
    written += 1;
    return body as never;
  };
  const transport = { request, stream: () => Promise.reject(new Error('no streams')) };
  const answerAll = async (flushed: Promise<void>): Promise<void> => {
    let done = false;
    const end = flushed.then(() => {
      done = true;
    });
    while (!done) {
      for (const answer of open.splice(0)) answer();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await end;
  };
  return { open, transport, answerAll, counts: () => ({ most, written }) };
}

const podOf = (index: number) => ({ metadata: { name: `p${index}`, namespace: 'd', uid: `u${index}` } });
const eventOf = (index: number) =>
  ({ pod: podOf(index), type: 'Normal', reason: 'Scheduled', action: 'Binding', note: 'assigned' }) as const;

describe('events of a storm of pods', () => {
  it('are all written where some thousand come at once, a few at a time', async () => {
    const server = slowServer();
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    const writer = eventWriter({ transport: server.transport, identity: 'one', clock: new FakeClock(), logger });
    for (let i = 0; i < 5000; i++) {
      writer.send({ pod: podOf(i), type: 'Normal', reason: 'Scheduled', action: 'Binding', note: 'assigned' });
    }
    await server.answerAll(writer.flush());
    expect(server.counts()).toEqual({ most: 8, written: 5000 });
    expect(writer.dropped).toBe(0);
    await writer.stop();
  });

  it.each([
    ['one at a time while pods are being bound', 20, true, 1],
    ['a few at a time where no pod is being bound', 20, false, 8],
    ['a few at a time where very many wait, though pods are being bound', 6000, true, 8],
  ])('are written %s', async (_, count, isBinding, most) => {
    const server = slowServer();
    const options = { transport: server.transport, identity: 'one', clock: new FakeClock(), logger: silentLogger };
    const writer = eventWriter({ ...options, isBinding: () => isBinding });
    for (let i = 0; i < count; i++) writer.send(eventOf(i));
    await server.answerAll(writer.flush());
    expect(server.counts()).toEqual({ most, written: count });
  });

  it('go one at a time again once pods are being bound', async () => {
    const server = slowServer();
    const options = { transport: server.transport, identity: 'one', clock: new FakeClock(), logger: silentLogger };
    let isBinding = false;
    const writer = eventWriter({ ...options, isBinding: () => isBinding });
    for (let i = 0; i < 20; i++) writer.send(eventOf(i));
    expect(server.open.length).toBe(8);
    isBinding = true;
    for (const answer of server.open.splice(0)) answer();
    await new Promise((resolve) => setImmediate(resolve));
    expect(server.open.length).toBe(1);
    await server.answerAll(writer.flush());
    expect(server.counts()).toEqual({ most: 8, written: 20 });
  });

  it('are dropped, and counted, where the server takes none', async () => {
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    const writer = eventWriter({ transport: slowServer().transport, identity: 'one', clock: new FakeClock(), logger });
    for (let i = 0; i < 10_018; i++) {
      writer.send({ pod: podOf(i), type: 'Normal', reason: 'Scheduled', action: 'Binding', note: 'assigned' });
    }
    expect(writer.dropped).toBe(10);
  });
});

import { describe, expect, it } from 'vitest';
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
  return { transport, answerAll, counts: () => ({ most, written }) };
}

const podOf = (index: number) => ({ metadata: { name: `p${index}`, namespace: 'd', uid: `u${index}` } });

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

  it('are dropped, and counted, where the server takes none', async () => {
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    const writer = eventWriter({ transport: slowServer().transport, identity: 'one', clock: new FakeClock(), logger });
    for (let i = 0; i < 10_018; i++) {
      writer.send({ pod: podOf(i), type: 'Normal', reason: 'Scheduled', action: 'Binding', note: 'assigned' });
    }
    expect(writer.dropped).toBe(10);
  });
});

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { Board } from '../../../../src/observe/debug/board.ts';
import { ChangeStream } from '../../../../src/observe/debug/change-stream.ts';
import { PodHistory } from '../../../../src/observe/debug/pod-history.ts';
import { PodTable } from '../../../../src/observe/debug/pod-table.ts';
import { Traffic } from '../../../../src/observe/debug/traffic.ts';
import { Harness, numberedPod, settle, testPod } from '../../status/status-harness.ts';
import { DebugHarness } from './debug-harness.ts';

const uid = '12345678';

describe('the stream of changes', () => {
  it('begins with everything, and then tells what changes, a quarter of a second at a time', async () => {
    await using debug = await DebugHarness.start();
    const { h } = debug;
    const pod = h.publish(testPod());
    h.manager.setPodStatus(pod, { phase: 'Pending' });
    await settle();
    const stream = await debug.stream();
    expect(stream.response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(await stream.snapshot()).toMatchObject({
      summary: { state: 'running', pods: 1, bySync: { 'in-sync': 1 }, byPhase: { Pending: 1 } },
      traffic: [{ at: h.clock.now(), patches: 1, synced: 1, failed: 0, delayP50Ms: 0 }],
      pods: [{ podUID: uid, name: 'foo', namespace: 'new', phase: 'Pending', sync: 'in-sync', version: 1 }],
    });
    h.manager.setPodStatus(pod, { phase: 'Running' });
    h.manager.setPodStatus(h.publish(numberedPod(1)), {});
    await h.clock.advance(249);
    h.client.hold();
    h.manager.setPodStatus(pod, { phase: 'Running', message: 'm' });
    await h.clock.advance(1);
    const { summary, changed, removed, traffic } = await stream.changes();
    expect(changed.map(({ podUID, sync, version }) => [podUID, sync, version]).sort()).toEqual([
      [uid, 'in-flight', 3],
      ['uid-1', 'in-sync', 1],
    ]);
    expect([removed, traffic.length]).toEqual([[], 1]);
    expect(summary).toMatchObject({ pods: 2, inFlight: 1, bySync: { 'in-sync': 1, 'in-flight': 1 }, oldestUnsentMs: 1 });
  });

  it('tells of pods that only time has changed, and of pods that are gone', async () => {
    await using debug = await DebugHarness.start();
    const { h } = debug;
    const [one, two] = [h.publish(numberedPod(1)), h.publish(numberedPod(2))];
    h.client.failNext('patch', { name: 'pod-1', code: 500 });
    h.manager.setPodStatus(one, {});
    h.manager.setPodStatus(two, {});
    await settle();
    const stream = await debug.stream();
    expect((await stream.snapshot()).summary.bySync).toEqual({ 'backing-off': 1, 'in-sync': 1 });
    await h.clock.advance(1_000);
    let summary = (await stream.changes()).summary;
    while (summary.bySync['in-sync'] !== 2) summary = (await stream.changes()).summary;
    expect(summary.bySync).toEqual({ 'in-sync': 2 });
    h.manager.removeOrphanedStatuses(new Set(['uid-1']));
    await h.clock.advance(250);
    expect(await stream.changes()).toMatchObject({ summary: { pods: 1 }, changed: [], removed: ['uid-2'] });
  });

  it('is quiet while nothing happens, but for a sign of life', async () => {
    await using debug = await DebugHarness.start();
    const { h } = debug;
    const stream = await debug.stream();
    const { summary } = await stream.snapshot();
    await h.clock.advance(250);
    expect((await stream.changes()).summary.at).toBe(summary.at + 250);
    await h.clock.advance(15_000);
    const { summary: later, changed, removed } = await stream.changes();
    expect([later.at, changed, removed]).toEqual([summary.at + 15_250, [], []]);
  });

  it('tells each second how old the oldest change is that the apiserver lacks', async () => {
    await using debug = await DebugHarness.start();
    const { h } = debug;
    h.client.hold();
    h.manager.setPodStatus(h.publish(testPod()), {});
    const stream = await debug.stream();
    await stream.snapshot();
    await h.clock.advance(250);
    const first = (await stream.changes()).summary.oldestUnsentMs;
    await h.clock.advance(1_000);
    expect([first, (await stream.changes()).summary.oldestUnsentMs]).toEqual([250, 1_250]);
  });

  it('needs no timer without a reader, and one for many', async () => {
    await using debug = await DebugHarness.start({ harness: { started: false } });
    const { clock } = debug.h;
    expect(clock.pendingTimers).toBe(0);
    const streams = await Promise.all([debug.stream(), debug.stream(), debug.stream()]);
    for (const stream of streams) await stream.snapshot();
    expect(clock.pendingTimers).toBe(1);
    for (const stream of streams) stream.response.destroy();
    while (clock.pendingTimers > 0) await settle();
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends when the handler is closed, and leaves nothing', async () => {
    await using debug = await DebugHarness.start({ harness: { started: false } });
    const stream = await debug.stream();
    await stream.snapshot();
    debug.handler.close();
    expect(await stream.next()).toBeUndefined();
    expect(debug.h.clock.pendingTimers).toBe(0);
  });

  it('is refused to a 65th reader', async () => {
    await using debug = await DebugHarness.start({ harness: { started: false } });
    const streams = await Promise.all(Array.from({ length: 64 }, () => debug.stream()));
    expect(streams.map(({ response }) => response.statusCode)).toEqual(Array(64).fill(200));
    const { status, headers } = await debug.ask('/api/changes');
    expect([status, headers['retry-after']]).toEqual([503, '5']);
    for (const { response } of streams) response.destroy();
  });

  it('lives on when the manager fails for a while', async () => {
    await using debug = await DebugHarness.start({ harness: { started: false } });
    const { h } = debug;
    const stream = await debug.stream();
    await stream.snapshot();
    const { snapshot } = h.manager;
    h.manager.snapshot = () => {
      throw new Error('boom');
    };
    h.manager.setPodStatus(testPod(), {});
    await h.clock.advance(500);
    h.manager.snapshot = snapshot;
    await h.clock.advance(250);
    expect((await stream.changes()).changed).toMatchObject([{ podUID: uid }]);
  });
});

/** A reader whose network takes nothing until it is told to. */
class SlowReader {
  readonly texts: string[] = [];
  readonly stream: Writable;
  #taken: (() => void) | undefined;
  #isOpen = false;

  constructor() {
    this.stream = new Writable({
      write: (part, _encoding, done) => {
        this.texts.push(String(part));
        if (this.#isOpen) done();
        else this.#taken = done;
      },
    });
  }

  get response(): ServerResponse {
    return this.stream as unknown as ServerResponse;
  }

  /** What was written so far is taken, and everything from now on. */
  take(): void {
    this.#isOpen = true;
    this.#taken?.();
  }

  names(): (string | undefined)[] {
    return this.events().map((text) => /^event: (\w+)/.exec(text)?.[1]);
  }

  events(): string[] {
    return this.texts.join('').split('\n\n').slice(0, -1);
  }

  /** What waits is taken in part: one write. */
  takeOne(): void {
    this.#taken?.();
  }
}

const streamOf = (h: Harness): ChangeStream => partsOf(h).subject;

function partsOf(h: Harness): { subject: ChangeStream; board: Board } {
  const { manager, clock } = h;
  const table = new PodTable(manager, clock);
  manager.on('podUpdated', ({ podUID }) => table.touch(podUID));
  const parts = { table, history: new PodHistory({ entriesPerPod: 0, bytes: 0 }), traffic: new Traffic(clock) };
  const board = new Board({ manager, node: undefined, scheduler: undefined, clock, ...parts });
  return { subject: new ChangeStream({ board, clock, logger: silentLogger }), board };
}

/** A change whose row takes about 100 kB. */
const bigPod = (n: number) => {
  const pod = numberedPod(n);
  return { ...pod, metadata: { ...pod.metadata, name: 'x'.repeat(100_000) } };
};

describe('a reader that has left', () => {
  it('takes no place when it left before its stream was opened', async () => {
    const h = new Harness({ started: false });
    const subject = streamOf(h);
    for (let n = 0; n < 64; n++) {
      const { stream, response } = new SlowReader();
      stream.destroy();
      await once(stream, 'close');
      subject.open(response);
    }
    expect([subject.isFull, h.clock.pendingTimers]).toEqual([false, 0]);
  });

  it('takes no place when an HTTP/2 stream was closed before', () => {
    const h = new Harness({ started: false });
    const subject = streamOf(h);
    // such a response does not say itself that it is closed
    const { response } = new SlowReader();
    subject.open(Object.assign(response, { stream: { destroyed: true } }));
    expect(h.clock.pendingTimers).toBe(0);
  });

  it('loses its place at the next batch, even when nothing told of its leaving', async () => {
    const h = new Harness({ started: false });
    const subject = streamOf(h);
    const { stream, response } = new SlowReader();
    subject.open(response);
    stream.removeAllListeners('close');
    stream.destroy();
    await h.clock.advance(250);
    expect(h.clock.pendingTimers).toBe(0);
  });
});

describe('the table behind the stream', () => {
  it('is followed from the first reader to the last', () => {
    const h = new Harness({ started: false });
    const { subject, board } = partsOf(h);
    const removedAfter = (): readonly string[] => {
      h.manager.setPodStatus(numberedPod(1), {});
      board.snapshot();
      h.manager.removeOrphanedStatuses(new Set());
      board.snapshot();
      return board.changes().removed;
    };
    expect(removedAfter()).toEqual([]);
    const readers = [new SlowReader(), new SlowReader()];
    for (const { response } of readers) subject.open(response);
    expect(removedAfter()).toEqual(['uid-1']);
    readers[0]?.stream.emit('close');
    expect(removedAfter()).toEqual(['uid-1']);
    readers[1]?.stream.emit('close');
    expect(removedAfter()).toEqual([]);
    subject.open(new SlowReader().response);
    expect(removedAfter()).toEqual(['uid-1']);
    subject.close();
    expect(removedAfter()).toEqual([]);
  });
});

describe('a slow reader', () => {
  it('has at most a megabyte and a snapshot waiting, and gets a new snapshot once it has read', async () => {
    const h = new Harness({ started: false });
    const subject = streamOf(h);
    const [slow, quick] = [new SlowReader(), new SlowReader()];
    quick.take();
    subject.open(slow.response);
    subject.open(quick.response);
    for (let n = 0; n < 30; n++) {
      h.manager.setPodStatus(bigPod(n), {});
      await h.clock.advance(250);
      expect(slow.stream.writableLength).toBeLessThan(1_200_000);
    }
    expect(quick.names()).toEqual(['snapshot', ...Array(30).fill('changes')]);
    slow.take();
    await settle();
    const waited = slow.texts.join('').length;
    expect([waited > 900_000, waited < 1_200_000]).toEqual([true, true]);
    const before = slow.names().length;
    h.manager.setPodStatus(bigPod(99), {});
    await h.clock.advance(250);
    expect(slow.names().slice(before)).toEqual(['snapshot']);
    expect(JSON.parse(slow.events().at(-1)?.split('data: ')[1] ?? '').pods).toHaveLength(31);
    h.manager.setPodStatus(bigPod(100), {});
    await h.clock.advance(250);
    expect(slow.names().slice(before)).toEqual(['snapshot', 'changes']);
    subject.close();
    expect(h.clock.pendingTimers).toBe(0);
  });

  it('may take a snapshot of any size', async () => {
    const h = new Harness({ started: false });
    for (let n = 0; n < 30; n++) h.manager.setPodStatus(bigPod(n), {});
    const subject = streamOf(h);
    const slow = new SlowReader();
    subject.open(slow.response);
    h.manager.setPodStatus(bigPod(31), {});
    await h.clock.advance(250);
    slow.take();
    await settle();
    expect(slow.names()).toEqual(['snapshot', 'changes']);
    expect(JSON.parse(slow.events()[1]?.split('data: ')[1] ?? '').changed).toHaveLength(1);
    subject.close();
  });

  it('is given up when it reads nothing for a minute', async () => {
    const h = new Harness({ started: false });
    const subject = streamOf(h);
    const deaf = new SlowReader();
    subject.open(deaf.response);
    for (let n = 0; n < 15; n++) {
      h.manager.setPodStatus(bigPod(n), {});
      await h.clock.advance(250);
    }
    for (const ms of [3_600_000, -7_200_000]) {
      h.clock.jump(ms);
      await h.clock.advance(250);
      expect(deaf.stream.destroyed).toBe(false);
    }
    await h.clock.advance(60_250);
    expect(deaf.stream.destroyed).toBe(true);
    await settle();
    expect(h.clock.pendingTimers).toBe(0);
  });

  it('is given up, too, when all that waits for it is a snapshot', async () => {
    const h = new Harness({ started: false });
    for (let n = 0; n < 30; n++) h.manager.setPodStatus(bigPod(n), {});
    const subject = streamOf(h);
    const [deaf, quick] = [new SlowReader(), new SlowReader()];
    quick.take();
    for (const { response } of [deaf, quick]) subject.open(response);
    await h.clock.advance(60_000);
    expect(deaf.stream.destroyed).toBe(false);
    await h.clock.advance(500);
    expect([deaf.stream.destroyed, quick.stream.destroyed]).toEqual([true, false]);
    subject.close();
  });

  it('is not joined by others once 64 MiB wait for all of them', () => {
    const h = new Harness({ started: false });
    for (let n = 0; n < 100; n++) h.manager.setPodStatus(bigPod(n), {});
    const subject = streamOf(h);
    const readers: SlowReader[] = [];
    for (; !subject.isFull && readers.length < 64; readers.push(new SlowReader())) subject.open(new SlowReader().response);
    expect(readers.length).toBe(7);
    subject.close();
  });

  it('is not given up while it reads some of a long snapshot every minute', async () => {
    const h = new Harness({ started: false });
    for (let n = 0; n < 30; n++) h.manager.setPodStatus(bigPod(n), {});
    const subject = streamOf(h);
    const slow = new SlowReader();
    subject.open(slow.response);
    for (let n = 30; n < 50; n++) {
      h.manager.setPodStatus(bigPod(n), {});
      await h.clock.advance(250);
    }
    for (let n = 0; n < 5; n++) {
      slow.takeOne();
      await h.clock.advance(50_000);
      expect(slow.stream.destroyed).toBe(false);
    }
    await h.clock.advance(11_000);
    expect(slow.stream.destroyed).toBe(true);
  });

  it('is cut off when the stream is closed, and one that has read everything is not', async () => {
    const h = new Harness({ started: false });
    const subject = streamOf(h);
    const [slow, quick] = [new SlowReader(), new SlowReader()];
    quick.take();
    subject.open(slow.response);
    subject.open(quick.response);
    await settle();
    subject.close();
    expect([slow.stream.destroyed, slow.stream.writableEnded]).toEqual([true, false]);
    await settle();
    expect([quick.stream.writableFinished, quick.names()]).toEqual([true, ['snapshot']]);
  });
});

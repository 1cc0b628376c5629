import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import type { KubeStream } from '../../../../src/client/transport/kube-transport.ts';
import { type ReadWatch, SharedReader } from '../../../../src/node/sources/shared-reader.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';

function setUp() {
  const clock = new FakeClock();
  const added = new Set<SharedReader>();
  const watch = {
    version: '10',
    failure: (): unknown => undefined,
    ready: async () => {},
    add: (_: string, reader: SharedReader) => void added.add(reader),
    remove: (_: string, reader: SharedReader) => void added.delete(reader),
    holds: () => {},
  } satisfies ReadWatch;
  const transport = { request: async () => ({ metadata: { resourceVersion: '20' } }), stream: async () => {} };
  const reader = new SharedReader({ watch, key: 'n1', transport, clock });
  const list = () => reader.request({ method: 'GET', path: '/api/v1/pods' });
  /** What comes of a watch from this version: the lines, and how it ended. */
  const open = (from: string, taken?: (line: string) => void) => {
    const lines: string[] = [];
    const stop = new AbortController();
    const onChunk: KubeStream['onChunk'] = (chunk) => {
      taken?.(chunk.toString());
      lines.push(chunk.toString().trimEnd());
    };
    const query = new URLSearchParams({ resourceVersion: from });
    const stream = { method: 'GET', path: '/api/v1/pods', query, signal: stop.signal, idleTimeoutMs: 1000, onChunk } as const;
    const ended: { error?: unknown; isOver: boolean } = { isOver: false };
    reader.stream(stream).then(
      () => Object.assign(ended, { isOver: true }),
      (error) => Object.assign(ended, { isOver: true, error }),
    );
    return { lines, ended, stop };
  };
  const take = (version: string) => reader.take(version, Buffer.from(`event ${version}`));
  return { clock, added, watch, reader, list, open, take };
}

const expired = expect.objectContaining({ status: 410 });

describe('the reader of a shared watch', () => {
  it('brings the events after the version asked for, once each: those held, then those that come', async () => {
    const { list, open, take } = setUp();
    await list();
    for (const version of ['15', '20', '21']) take(version);
    const { lines } = open('20');
    for (const version of ['19', '21', '22']) take(version);
    expect(lines).toEqual(['event 21', 'event 22']);
  });

  it('refuses a version before that which it has held from, and any before a list', async () => {
    const { list, open, added } = setUp();
    const early = open('20');
    await settle();
    expect(early.ended.error).toEqual(expired);
    await list();
    const old = open('9');
    await settle();
    expect([old.ended.error, added.size]).toEqual([expired, 0]);
  });

  it('holds what its user has not taken, for the next watch', async () => {
    const { list, open, take } = setUp();
    await list();
    const refused = open('20', () => {
      throw new Error('no event');
    });
    take('21');
    take('22');
    await settle();
    expect(refused.ended.error).toEqual(new Error('no event'));
    expect(open('20').lines).toEqual(['event 21', 'event 22']);
  });

  it('goes on after a failure from where it was, and not after a gap', async () => {
    const { list, open, take, reader, added } = setUp();
    await list();
    const first = open('20');
    take('21');
    reader.broken(new Error('cut'));
    take('22');
    await settle();
    expect(first.ended.error).toEqual(new Error('cut'));
    const second = open('21');
    expect(second.lines).toEqual(['event 22']);
    reader.lost(undefined);
    await settle();
    expect([second.ended.error, added.size]).toEqual([expired, 0]);
  });

  it('holds events for two minutes, and no more than 4 MiB of them', async () => {
    const { list, open, take, reader, added, clock } = setUp();
    await list();
    take('21');
    await clock.advance(119_000);
    expect(added.size).toBe(1);
    await clock.advance(1000);
    expect([added.size, clock.pendingTimers]).toEqual([0, 0]);
    await list();
    for (let version = 21; version < 26; version += 1) reader.take(String(version), Buffer.alloc(1024 * 1024));
    expect(added.size).toBe(0);
    const late = open('20');
    await settle();
    expect(late.ended.error).toEqual(expired);
  });

  it('that comes while the watch is down ends with its failure, unless the watch works again within 4 s, and is told of a refusal, not of a gap', async () => {
    const { list, open, watch, reader, clock } = setUp();
    await list();
    const refusal = new ApiError({ status: 403, reason: 'Forbidden', message: 'no' });
    watch.failure = () => refusal;
    const refused = open('20');
    await clock.advance(3999);
    expect(refused.ended.isOver).toBe(false);
    await clock.advance(1);
    expect(refused.ended.error).toBe(refusal);
    const patient = open('20');
    watch.failure = () => undefined;
    await clock.advance(5000);
    expect(patient.ended.isOver).toBe(false);
    patient.stop.abort();
    watch.failure = () => refusal;
    const [gone, cut] = [open('20'), new ApiError({ reason: 'Network', message: 'cut' })];
    watch.failure = () => cut;
    const forgotten = open('20');
    await settle();
    expect([gone.ended.error, forgotten.ended.error, clock.pendingTimers]).toEqual([refusal, expired, 0]);
    reader.lost(undefined);
  });

  it('leaves with its user: no event is held, no timer is set', async () => {
    const { list, open, take, added, clock } = setUp();
    await list();
    const watch = open('20');
    watch.stop.abort();
    take('21');
    await settle();
    expect([watch.ended.error, watch.lines]).toEqual([expect.objectContaining({ reason: 'Aborted' }), []]);
    expect([added.size, clock.pendingTimers]).toEqual([0, 0]);
  });
});

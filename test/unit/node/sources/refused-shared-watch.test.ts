import { describe, expect, it, onTestFinished } from 'vitest';
import { resources } from '../../../../src/client/resources/api-resource.ts';
import { ApiError } from '../../../../src/index.ts';
import { SharedWatches } from '../../../../src/node.ts';
import { Reflector } from '../../../../src/reflector.ts';
import { FakeClock } from '../../../../src/testing.ts';

/** A server that answers every list, and watches as it is told to. */
function world() {
  const clock = new FakeClock();
  const asked = { lists: 0, watches: 0 };
  const refusal = new ApiError({ status: 403, reason: 'Forbidden', message: 'pods is forbidden: cannot watch' });
  const watch = { isRefused: true };
  const transport = {
    request: async () => {
      asked.lists += 1;
      return { metadata: { resourceVersion: String(asked.lists) }, items: [] };
    },
    stream: async ({ signal }: { readonly signal?: AbortSignal | undefined }) => {
      asked.watches += 1;
      if (watch.isRefused) throw refusal;
      await new Promise((resolve) => signal?.addEventListener('abort', resolve));
    },
  };
  const tools = { clock, logger: null, random: () => 0.5 };
  const shared = new SharedWatches({ transport, ...tools });
  const reader = new Reflector({
    ...tools,
    transport: shared.podsOf('n1', transport),
    streamLists: false,
    resource: resources.pods,
    fieldSelector: 'spec.nodeName=n1',
  });
  onTestFinished(async () => {
    await Promise.all([reader.stop(), shared.stop()]);
  });
  return { clock, asked, refusal, watch, shared, reader };
}

describe('a shared watch that is refused', () => {
  it('is never called well by its reader, nor by itself, until it works', async () => {
    const { clock, asked, refusal, watch, shared, reader } = world();
    await reader.start();
    await clock.advance(10_000);
    const told = new Set<unknown>();
    const [lists, watches] = [asked.lists, asked.watches];
    for (let second = 0; second < 600; second += 1) {
      await clock.advance(1000);
      told.add(reader.lastFailure()?.error).add(shared.lastFailures()[0]?.error);
    }
    expect([...told]).toEqual([refusal]);
    expect(shared.lastFailures()).toMatchObject([{ resource: 'pods' }]);
    // one of the watch for its version, one of the reader for its pods, at the pace of the longest pause
    expect(asked.lists - lists).toBeLessThan(2.5 * (asked.watches - watches));
    watch.isRefused = false;
    await clock.advance(120_000);
    expect([reader.lastFailure(), shared.lastFailures()]).toEqual([undefined, []]);
  });
});

import { expect, it } from 'vitest';
import { resources } from '../../../../src/client/resources/api-resource.ts';
import { SharedReader } from '../../../../src/node/sources/shared-reader.ts';
import { SharedWatch } from '../../../../src/node/sources/shared-watch.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';

it('the readers of a shared watch hold 64 MiB together, and the one that holds most lists again', async () => {
  const clock = new FakeClock();
  const answer = { metadata: { resourceVersion: '1' }, items: [] };
  const transport = { request: async () => answer, stream: () => new Promise<void>(() => {}) };
  const { logger } = recordedLines();
  const tools = { transport, clock, logger, random: () => 0, name: 'shared-pods' };
  const watch = new SharedWatch({ ...tools, resource: resources.pods, outlineOf: () => undefined, keyOf: () => undefined });
  const readers = Array.from({ length: 30 }, (_, i) => new SharedReader({ watch, key: `n${i}`, transport, clock }));
  for (const reader of readers) await reader.request({ method: 'GET', path: '/api/v1/pods' });
  const [first] = readers;
  const line = Buffer.alloc(1024 * 1024);
  first?.take('2', line);
  for (const reader of readers) for (let version = 3; version < 6; version += 1) reader.take(String(version), line);
  const held = readers.map(({ heldBytes }) => heldBytes / line.length);
  expect(held.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(64);
  expect(first?.heldBytes).toBe(0);
  expect(watch.readers).toBeLessThan(30);
});

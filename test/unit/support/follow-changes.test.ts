import { expect, it } from 'vitest';
import type { Answer } from '../../support/answers.ts';
import { followChanges } from '../../support/follow-changes.ts';
import type { WatchEvent } from '../../support/watch-stream.ts';

interface Named {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
}

const named = (name: string, resourceVersion: string): Named => ({ metadata: { name, resourceVersion } });
const expired = { type: 'ERROR', object: { code: 410, reason: 'Expired', message: 'too old' } } as const;

/** It ends each watch after the events that it has for the version which the watch begins with, and tells of them once. */
class EndsWatches {
  readonly asked: string[] = [];
  readonly #eventsAfter: Map<string, readonly WatchEvent<Named>[]>;

  constructor(eventsAfter: Readonly<Record<string, readonly WatchEvent<Named>[]>>) {
    this.#eventsAfter = new Map(Object.entries(eventsAfter));
  }

  send(): Promise<Answer> {
    const body = { kind: 'List', metadata: { resourceVersion: '3' }, items: [named('a', '1'), named('b', '2')] };
    return Promise.resolve({ status: 200, body, headers: {} });
  }

  async *watch<T>(_: string, query: Readonly<Record<string, string>> = {}): AsyncGenerator<WatchEvent<T>> {
    const { resourceVersion = 'none' } = query;
    this.asked.push(resourceVersion);
    const events = this.#eventsAfter.get(resourceVersion) ?? [expired];
    this.#eventsAfter.delete(resourceVersion);
    for (const event of events) yield event as WatchEvent<T>;
  }
}

async function seenOf(server: EndsWatches): Promise<string[]> {
  const seen: string[] = [];
  const read = async (): Promise<void> => {
    for await (const { type, object } of followChanges<Named>(server, '/things')) seen.push(`${type} ${object.metadata.name}`);
  };
  await expect(read()).rejects.toThrow('the watch of /things said');
  return seen;
}

it('tells of what goes while no watch is open', async () => {
  const server = new EndsWatches({
    3: [{ type: 'MODIFIED', object: named('a', '4') }],
    4: [{ type: 'DELETED', object: named('b', '5') }],
  });

  expect(await seenOf(server)).toEqual(['ADDED a', 'ADDED b', 'MODIFIED a', 'DELETED b']);
  expect(server.asked).toEqual(['3', '4', '5']);
});

it('goes on from a bookmark, and tells nothing of it', async () => {
  const server = new EndsWatches({ 3: [{ type: 'BOOKMARK', object: named('', '9') }] });

  expect(await seenOf(server)).toEqual(['ADDED a', 'ADDED b']);
  expect(server.asked).toEqual(['3', '9']);
});

import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { ApiError, type KubeRequest } from '../../../../src/index.ts';
import { eventWriter } from '../../../../src/scheduler/cluster/event-writer.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';

interface StoredEvent {
  readonly metadata: { readonly name: string };
  readonly note: string;
  readonly series?: { readonly count: number };
}

/** A server of events. `before` runs ahead of each request. */
function world(before: (request: KubeRequest, asked: readonly string[]) => void = () => {}) {
  const events = new Map<string, StoredEvent>();
  const asked: string[] = [];
  const request = async (request: KubeRequest) => {
    const { method, path, body } = request;
    before(request, asked);
    asked.push(method);
    const name = method === 'POST' ? (body as StoredEvent).metadata.name : (path.split('/').at(-1) ?? '');
    const known = events.get(name);
    if (method === 'POST' && known !== undefined)
      throw new ApiError({ status: 409, reason: 'AlreadyExists', message: 'is there' });
    if (method === 'PATCH' && known === undefined) throw new ApiError({ status: 404, reason: 'NotFound', message: 'not found' });
    events.set(name, { ...known, ...(body as StoredEvent) });
    return events.get(name) as never;
  };
  const transport = { request, stream: () => Promise.reject(new Error('no streams')) };
  const writer = eventWriter({ transport, identity: 'one', clock: new FakeClock(), logger: silentLogger });
  const happen = async () => {
    const pod = { metadata: { name: 'web', namespace: 'd', uid: 'u1', resourceVersion: '1' } };
    writer.send({ pod, type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', note: 'no room' });
    await writer.flush();
  };
  const told = () => [...events.values()].map(({ note, series }) => [note, series?.count]);
  return { events, asked, happen, told };
}

describe('the series of an event that happens again', () => {
  it('is counted in the first event', async () => {
    const { asked, happen, told } = world();
    for (let i = 0; i < 3; i++) await happen();
    expect(asked).toEqual(['POST', 'PATCH', 'PATCH']);
    expect(told()).toEqual([['no room', 3]]);
  });

  it('is written anew, with its count, where somebody has deleted the first event', async () => {
    const { events, asked, happen, told } = world();
    await happen();
    events.clear();
    await happen();
    expect(asked).toEqual(['POST', 'PATCH', 'POST']);
    expect(told()).toEqual([['no room', 2]]);
  });

  it('is counted in an event that arrives while it is written anew', async () => {
    let late: StoredEvent | undefined;
    const { events, asked, happen, told } = world(({ method, body }, before) => {
      if (late === undefined && method === 'POST') late = body as StoredEvent;
      else if (late !== undefined && before.at(-1) === 'PATCH') events.set(late.metadata.name, late);
    });
    await happen();
    events.clear();
    await happen();
    expect(asked).toEqual(['POST', 'PATCH', 'POST', 'PATCH']);
    expect(told()).toEqual([['no room', 2]]);
  });
});

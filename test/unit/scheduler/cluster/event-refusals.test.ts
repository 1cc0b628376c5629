import { describe, expect, it } from 'vitest';
import { EventFailures } from '../../../../src/client/events/event-failures.ts';
import { ApiError } from '../../../../src/index.ts';
import { eventWriter } from '../../../../src/scheduler/cluster/event-writer.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';

function world(status: number, reason: string, message: string) {
  const clock = new FakeClock();
  const recovered: object[] = [];
  const answers = { isOpen: false };
  const failures = new EventFailures(clock, (ended) => recovered.push(ended));
  const lines: string[] = [];
  const logger = { debug: () => {}, info: () => {}, warn: (_: object, text: string) => void lines.push(text), error: () => {} };
  const transport = {
    request: async ({ body }: { readonly body?: unknown }): Promise<never> => {
      if (!answers.isOpen) throw new ApiError({ status, reason, message });
      return { ...(body as object), metadata: { name: 'n', uid: 'u', resourceVersion: '1' } } as never;
    },
    stream: () => Promise.reject(new Error('no streams')),
  };
  const writer = eventWriter({ transport, identity: 'one', clock, logger, failures });
  const write = async (): Promise<void> => {
    const pod = { metadata: { name: 'web', namespace: 'd', uid: 'u1', resourceVersion: '1' } };
    writer.send({ pod, type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', note: 'no room' });
    await writer.flush();
  };
  return { clock, failures, lines, recovered, answers, write };
}

describe('events that the apiserver refuses', () => {
  it.each([
    [403, 'Forbidden', 'unable to create new content in namespace d because it is being terminated'],
    [404, 'NotFound', 'namespaces "d" not found'],
  ])('are no failure where the namespace takes none any more: %s', async (status, reason, message) => {
    const { failures, lines, write } = world(status, reason, message);
    await write();
    expect([failures.failing, lines]).toEqual([undefined, []]);
  });

  it('are over with the first that is taken, also long after the last one, and the log has a line for that', async () => {
    const { clock, answers, recovered, write } = world(403, 'Forbidden', 'no right');
    await write();
    await write();
    await clock.advance(600_000);
    answers.isOpen = true;
    await write();
    await write();
    expect(recovered).toEqual([{ attempt: 2, failingForMs: 600_000 }]);
  });

  it('are forgotten five minutes after the last one', async () => {
    const { clock, failures, lines, write } = world(403, 'Forbidden', 'no right');
    await write();
    expect(failures.failing).toMatchObject({ since: clock.now(), attempt: 1 });
    await clock.advance(299_999);
    expect(failures.failing?.attempt).toBe(1);
    await clock.advance(1);
    expect(failures.failing).toBeUndefined();
    await write();
    expect(failures.failing).toMatchObject({ since: clock.now(), attempt: 1 });
    expect(lines).toEqual(Array(2).fill('an event could not be written'));
  });
});

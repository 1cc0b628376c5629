import { describe, expect, it } from 'vitest';
import { RuntimeService } from '../../../../src/kubelet/cri/proto/api_pb.ts';
import type { RuntimeEvent } from '../../../../src/kubelet/runtime/container-runtime.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { failureOf, setUp } from './setup.ts';

const stream = RuntimeService.method.getContainerEvents;
const noPod = { containerId: 'c1', containerEventType: 1, createdAt: 5_000_000_000n };

async function open() {
  const { runtime, server } = await setUp();
  const controller = new AbortController();
  const events = runtime.events(controller.signal)[Symbol.asyncIterator]();
  await until(() => server.seen.length === 1);
  return { runtime, server, controller, events };
}

describe('events', () => {
  it('tell what happened, with the pod as it was right after', async () => {
    const { server, events } = await open();
    const metadata = { name: 'pod-a', uid: 'a', namespace: 'default', attempt: 2 };
    const podSandboxStatus = { id: 's1', metadata, state: 0, createdAt: 1_000_000n, network: { ip: '10.0.0.1' } };
    const container = { id: 'c1', metadata: { name: 'app', attempt: 1 }, state: 2, exitCode: 3 };
    server.send(stream, { ...noPod, containerEventType: 2, podSandboxStatus, containersStatuses: [container] });
    const { value } = await events.next();
    expect(value).toMatchObject({ type: 'stopped', containerID: 'c1', at: 5_000, podUID: 'a' });
    expect(value?.sandbox).toMatchObject({ id: 's1', metadata, state: 'ready', createdAt: 1, ips: ['10.0.0.1'] });
    expect(value?.containers).toMatchObject([{ id: 'c1', sandboxID: 's1', state: 'exited', exitCode: 3 }]);
  });

  it('come in order, also those from before the loop, and without a pod where the runtime does not say it', async () => {
    const { server, events } = await open();
    for (const containerEventType of [0, 1, 2, 3]) server.send(stream, { ...noPod, containerEventType });
    const types: RuntimeEvent['type'][] = [];
    while (types.length < 4) types.push((await events.next()).value?.type);
    expect(types).toEqual(['created', 'started', 'stopped', 'deleted']);
    server.send(stream, noPod);
    expect((await events.next()).value).toEqual({ type: 'started', containerID: 'c1', at: 5_000, podUID: '' });
  });

  it('of a kind that is not known are left out', async () => {
    const { server, events } = await open();
    server.send(stream, { ...noPod, containerEventType: 9 });
    server.send(stream, { ...noPod, containerId: 'c2' });
    expect((await events.next()).value).toMatchObject({ containerID: 'c2' });
  });

  it('end without an error when the signal aborts, and the runtime is told', async () => {
    const { server, controller, events } = await open();
    const next = events.next();
    controller.abort();
    expect(await next).toEqual({ value: undefined, done: true });
    await until(() => server.seen[0]?.isCancelled === true);
  });

  it('end at once with a signal that has aborted before, and nothing is asked', async () => {
    const { runtime, server } = await setUp();
    const next = runtime.events(AbortSignal.abort())[Symbol.asyncIterator]().next();
    expect(await next).toEqual({ value: undefined, done: true });
    await settle();
    expect(server.seen).toEqual([]);
  });

  it('are taken back when the loop ends early', async () => {
    const { server, events } = await open();
    server.send(stream, noPod);
    await events.next();
    await events.return?.();
    await until(() => server.seen[0]?.isCancelled === true);
    expect(server.seen).toHaveLength(1);
  });

  it('throw kind unimplemented where the runtime has none', async () => {
    const { runtime } = await setUp({ GetContainerEvents: () => ({ code: 12, details: 'no events' }) });
    const next = runtime.events(new AbortController().signal)[Symbol.asyncIterator]().next();
    const message = 'rpc error: code = Unimplemented desc = no events';
    expect(await failureOf(next)).toMatchObject({ kind: 'unimplemented', call: 'GetContainerEvents', message });
  });

  it('throw kind unavailable when the runtime ends the stream without an error', async () => {
    const { server, events } = await open();
    const next = failureOf(events.next());
    server.endStreams();
    expect(await next).toMatchObject({ kind: 'unavailable' });
  });
});

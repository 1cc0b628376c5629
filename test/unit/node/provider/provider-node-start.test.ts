import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PodProvider } from '../../../../src/node/provider/pod-provider.ts';
import { ProviderNode } from '../../../../src/node/provider/provider-node.ts';
import type { ProviderNodeOptions } from '../../../../src/node/provider/provider-node-options.ts';
import type { SendPods } from '../../../../src/node/sources/pod-source.ts';
import { InMemoryApiServer } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { passUntil } from './pass-until.ts';

let server: InMemoryApiServer;
let clock: FakeClock;
beforeEach(async () => {
  clock = new FakeClock();
  server = await InMemoryApiServer.start();
});
afterEach(() => server.stop());

const provider: PodProvider = { createPod() {}, updatePod() {}, deletePod() {}, getPodStatus: () => ({ phase: 'Running' }) };
const nodeOf = (given: Partial<ProviderNodeOptions> = {}): ProviderNode =>
  new ProviderNode({ kubeConfig: server.kubeConfig(), nodeName: 'starting', provider, clock, logger: null, ...given });

const nodeIsRefused = (node: ProviderNode): boolean => node.snapshot().node.lastError !== undefined;
const podsAreRefused = (node: ProviderNode): boolean => node.snapshot().sources[0]?.lastError !== undefined;

describe('the start of a provider node', () => {
  it('that takes too long says what the server refuses; the node goes on, and becomes ready all the same', async () => {
    server.fail({ resource: 'nodes', fault: { kind: 'status', code: 403, reason: 'Forbidden' }, times: 1e9 });
    server.fail({ resource: 'pods', fault: { kind: 'status', code: 503 }, times: 1e9 });
    await using node = nodeOf();
    const started = node.start({ timeoutMs: 1500 }).catch((error: unknown) => error);
    await until(() => nodeIsRefused(node) && podsAreRefused(node));
    await clock.advance(1500);
    const outcome = await started;
    expect(outcome).toMatchObject({ code: 'ERR_START_TIMEOUT', cause: { status: 403 } });
    const { message } = outcome as Error;
    expect(message).toMatch(/^The provider node has not started within 1500 ms: the node object is not registered: ./);
    expect(message).toMatch(/; the source "api" has not sent its pods: ./);
    expect(node.state).toBe('running');
    server.clearFaults();
    await passUntil(clock, () => node.snapshot().ready);
  });

  it('that takes too long gives the refusal of the pods as its cause, where the node is registered', async () => {
    server.fail({ resource: 'pods', fault: { kind: 'status', code: 403, reason: 'Forbidden' }, times: 1e9 });
    await using node = nodeOf();
    const outcome = expect(node.start({ timeoutMs: 1500 })).rejects.toMatchObject({
      ...{ code: 'ERR_START_TIMEOUT', cause: { code: 'ERR_API', status: 403 } },
      message: expect.stringContaining('within 1500 ms: the source "api" has not sent its pods: '),
    });
    await until(() => node.snapshot().registered && podsAreRefused(node));
    await clock.advance(1500);
    await outcome;
  });

  it('names neither the other sources nor what is there already', async () => {
    server.fail({ resource: 'nodes', fault: { kind: 'hang' }, times: 1e9 });
    await using node = nodeOf({ sources: { mute: { start() {}, stop() {} } } });
    const outcome = expect(node.start({ timeoutMs: 500 })).rejects.toThrow(
      'The provider node has not started within 500 ms: the node object is not registered',
    );
    await until(() => node.snapshot().sources[0]?.hasSent === true);
    await clock.advance(500);
    await outcome;
  });

  it('names the provider that does not list its pods', async () => {
    await using node = nodeOf({ provider: { ...provider, getPods: () => new Promise<never>(() => {}) } });
    const outcome = expect(node.start({ timeoutMs: 200 })).rejects.toThrow('the provider has not answered getPods() yet');
    await clock.advance(200);
    await outcome;
  });

  it('ends with its signal, and starts nothing where that had aborted before', async () => {
    server.fail({ resource: 'nodes', fault: { kind: 'hang' }, times: 1e9 });
    await using node = nodeOf();
    await expect(node.start({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
    await expect(node.start({ timeoutMs: -1 })).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
    expect(node.state).toBe('idle');
    const controller = new AbortController();
    const outcome = expect(node.start({ signal: controller.signal })).rejects.toThrow('enough');
    controller.abort(new Error('enough'));
    await outcome;
    expect(node.state).toBe('running');
  });

  it('can be waited for by its node object, too', async () => {
    server.fail({ resource: 'nodes', fault: { kind: 'hang' }, times: 1e9 });
    await using node = nodeOf();
    node.start().catch(() => {});
    const outcome = expect(node.nodeObject.registered({ timeoutMs: 50 })).rejects.toMatchObject({
      ...{
        code: 'ERR_START_TIMEOUT',
        message: expect.stringContaining('the node object is not registered: the server has not answered'),
      },
    });
    await clock.advance(50);
    await outcome;
    await expect(node.nodeObject.registered({ typo: 1 } as never)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
  });
});

describe('options of the parts', () => {
  it.each([
    ['syncLoop.typo', { syncLoop: { typo: 1 } as never }],
    ['apiServerSource.typo', { apiServerSource: { typo: 1 } as never }],
    ['mirrorPods.typo', { mirrorPods: { typo: 1 } as never }],
    ['housekeepingIntervalMs', { syncLoop: { housekeepingIntervalMs: 0 } }],
    ['idleTimeoutMs', { apiServerSource: { idleTimeoutMs: 0 } }],
    ['concurrency', { mirrorPods: { concurrency: 0 } }],
  ])('are checked by the part: %s', (name, given) => {
    expect(() => nodeOf(given)).toThrow(name);
    expect(() => nodeOf(given)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
  });

  it('of the node object are taken, each that its type has', async () => {
    const status = {
      images: [{ names: ['app:1'], sizeBytes: 1 }],
      features: { supplementalGroupsPolicy: true },
      runtimeHandlers: [{ name: 'runc' }],
      declaredFeatures: ['InPlacePodVerticalScaling'],
    };
    await using node = nodeOf(status);
    await node.start();
    expect(node.nodeObject.node).toMatchObject({ status });
  });

  it('reach the parts', async () => {
    const setTimer = vi.spyOn(clock, 'setTimer');
    const created: string[] = [];
    const handlers = { mirrorPodCreated: ({ podFullName }: { podFullName: string }) => void created.push(podFullName) };
    const file = { start: (send: SendPods) => send([staticPod]), stop() {} };
    await using node = nodeOf({
      ...{ apiServerSource: { streamLists: false }, syncLoop: { housekeepingIntervalMs: 1234 } },
      ...{ mirrorPods: { handlers }, sources: { file } },
    });
    await node.start();
    expect(setTimer.mock.calls.map(([, delayMs]) => delayMs)).toContain(1234);
    expect(server.countRequests('list')).toBe(1);
    await passUntil(clock, () => created.length > 0);
    expect(created).toEqual(['static_default']);
  });
});

const staticPod = {
  metadata: { name: 'static', namespace: 'default', uid: 'static', annotations: { 'kubernetes.io/config.hash': 'static' } },
  spec: { nodeName: 'starting', containers: [{ name: 'app', image: 'a' }] },
};

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  BasicPodManager,
  KubePodClient,
  type PodStatus,
  StatusManager,
  type SyncErrorEvent,
  type WirePod,
} from '../../../src/index.ts';
import { buildPod, InMemoryApiServer } from '../../../src/testing.ts';

let server: InMemoryApiServer;
let podClient: KubePodClient;
let manager: StatusManager;
let pod: WirePod;

beforeEach(async () => {
  server = await InMemoryApiServer.start();
  pod = server.store.create(
    buildPod({ metadata: { name: 'web' }, spec: { nodeName: 'n', containers: [{ name: 'app', image: 'i' }] } }),
  );
  const podManager = new BasicPodManager();
  podManager.addPod(pod);
  podClient = KubePodClient.fromKubeConfig(server.kubeConfig());
  const podDeletionSafety = { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false };
  manager = new StatusManager({ logger: null, podClient, podManager, podDeletionSafety });
  manager.start();
});

afterEach(async () => {
  await manager.stop({ drainTimeoutMs: 0 });
  await podClient.close();
  await server.stop();
});

const stored = (): PodStatus => server.store.get('default', 'web').status ?? {};
const terminated = (message: string): PodStatus => ({
  phase: 'Running',
  containerStatuses: [
    { name: 'app', image: 'i', imageID: '', ready: false, restartCount: 0, state: { terminated: { exitCode: 1, message } } },
  ],
});

describe('hostile input', () => {
  it('does not reach any prototype through a member named __proto__', async () => {
    const status = JSON.parse(
      '{"phase":"Running","__proto__":{"polluted":1},"conditions":[{"type":"Ready","status":"True","__proto__":{"x":1}}]}',
    );
    manager.setPodStatus(pod, status);
    await manager.flush();
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(stored()).toMatchObject({ phase: 'Running', conditions: [{ type: 'Ready' }] });
  });

  it('cuts a termination message of 10 MB to the limit, between two characters', async () => {
    manager.setPodStatus(pod, terminated('é'.repeat(5_000_000)));
    await manager.flush();
    const message = stored().containerStatuses?.[0]?.state?.terminated?.message ?? '';
    expect(Buffer.byteLength(message)).toBe(12_288);
    expect(message).toBe('é'.repeat(6144));
  });

  it('quarantines a status too large for the apiserver, and sends the next one', async () => {
    const failed = new Promise<SyncErrorEvent>((resolve) => manager.once('syncError', resolve));
    manager.setPodStatus(pod, { phase: 'Running', message: 'x'.repeat(10_000_000) });
    expect(await failed).toMatchObject({ errorClass: 'invalid', retryInMs: undefined });
    expect((await manager.flush()).held).toEqual([{ podUID: pod.metadata?.uid, phase: 'quarantined' }]);
    manager.setPodStatus(pod, { phase: 'Running', message: 'short' });
    expect((await manager.flush()).held).toEqual([]);
    expect(stored().message).toBe('short');
  });

  it('leaves out a million foreign conditions', async () => {
    const conditions = Array.from({ length: 1_000_000 }, (_, i) => ({ type: `example.com/c${i}`, status: 'True' }));
    manager.setPodStatus(pod, { phase: 'Running', conditions: [...conditions, { type: 'Ready', status: 'True' }] });
    await manager.flush();
    expect(stored().conditions).toMatchObject([{ type: 'Ready', status: 'True' }]);
  });

  it('keeps NUL, and replaces half a character as the apiserver does', async () => {
    manager.setPodStatus(pod, { phase: 'Running', message: 'a\u0000b\ud800c' });
    await manager.flush();
    expect(stored().message).toBe('a\u0000b\ufffdc');
    const requests = server.countRequests();
    manager.reconcile(pod.metadata?.uid ?? '');
    await manager.flush();
    expect(server.countRequests()).toBe(requests);
  });

  it.each(['a/b', '..', '.', 'a%2fb', ''])('refuses the pod name %j before anything is stored', (name) => {
    const named = { ...pod, metadata: { ...pod.metadata, name } };
    expect(() => manager.setPodStatus(named, { phase: 'Running' })).toThrowError(/pod\.metadata\.name/);
    expect(manager.getPodStatus(pod.metadata?.uid ?? '')).toBeUndefined();
  });

  it('refuses a status that contains itself', () => {
    const circle: Record<string, unknown> = {};
    circle.again = circle;
    expect(() => manager.setPodStatus(pod, { phase: 'Running', resources: circle } as PodStatus)).toThrowError(/nested at most/);
  });
});

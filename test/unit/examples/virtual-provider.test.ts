import { afterEach, describe, expect, it, vi } from 'vitest';
import { Random } from '../../../examples/virtual-node/random.ts';
import { kindLabel, makePod, seedAnnotation } from '../../../examples/virtual-node/virtual/pod-template.ts';
import { VirtualPod } from '../../../examples/virtual-node/virtual/virtual-pod.ts';
import { type ProbedStatuses, VirtualProvider } from '../../../examples/virtual-node/virtual/virtual-provider.ts';
import type { WirePod, WirePodStatus } from '../../../src/index.ts';
import { PodStore } from '../../../src/testing.ts';
import { type BareParts, barePod } from '../../support/pods.ts';

function aPod(restartPolicy: string, spec: BareParts['spec'] = {}, kind = 'web'): WirePod {
  const metadata = { name: 'web', uid: 'u1', labels: { [kindLabel]: kind }, annotations: { [seedAnnotation]: '1' } };
  return barePod({ metadata, spec: { restartPolicy, ...spec } });
}

const phaseOf = (pod: WirePod, virtualPod: VirtualPod) => virtualPod.statusOf(pod, undefined).phase;
const { signal } = new AbortController();
const deletion = { signal, gracePeriodSeconds: 2 };

afterEach(() => {
  vi.useRealTimers();
});

describe('VirtualPod', () => {
  it('is Pending before a container has run and Running afterwards', () => {
    const pod = aPod('Always');
    const virtualPod = new VirtualPod(pod);
    expect(phaseOf(pod, virtualPod)).toBe('Pending');
    for (const container of virtualPod.containers) container.start();
    expect(phaseOf(pod, virtualPod)).toBe('Running');
  });

  it.each([
    ['Never', 0, 'Succeeded'],
    ['Never', 1, 'Failed'],
    ['OnFailure', 0, 'Succeeded'],
    ['OnFailure', 1, 'Running'],
    ['Always', 0, 'Running'],
  ])('follows the restart policy %s when every container exits with %d: %s', (restartPolicy, exitCode, phase) => {
    const pod = aPod(restartPolicy);
    const virtualPod = new VirtualPod(pod);
    for (const container of virtualPod.containers) {
      container.start();
      container.exit(exitCode);
    }
    expect(phaseOf(pod, virtualPod)).toBe(phase);
  });

  it('ends a stopped pod as its containers ended, whatever its restart policy', () => {
    const pod = aPod('Always');
    const virtualPod = new VirtualPod(pod);
    virtualPod.isStopping = true;
    for (const container of virtualPod.containers) {
      container.start();
      expect(phaseOf(pod, virtualPod)).toBe('Running');
      container.exit(0);
    }
    expect(phaseOf(pod, virtualPod)).toBe('Succeeded');
  });

  it('keeps the count and the end of the runs before', () => {
    const pod = aPod('Always');
    const virtualPod = new VirtualPod(pod);
    const [app] = virtualPod.containers;
    app?.start();
    app?.exit(1);
    app?.backOff();
    const waits = virtualPod.statusOf(pod, undefined).containerStatuses?.[0];
    expect(waits).toMatchObject({ restartCount: 0, state: { waiting: { reason: 'CrashLoopBackOff' } } });
    expect(waits?.lastState?.terminated?.exitCode).toBe(1);
    app?.start();
    // also where nobody has seen the end
    expect(virtualPod.statusOf(pod, undefined).containerStatuses?.[0]).toMatchObject({
      restartCount: 1,
      state: { running: {} },
      lastState: { terminated: { exitCode: 1, reason: 'Error' } },
    });
  });

  it('makes statuses that an apiserver accepts, in every stage of a pod of any kind', () => {
    const store = new PodStore();
    const kinds = ['web', 'flapping', 'crashing', 'job'] as const;
    const names = kinds.flatMap((kind) => Array.from({ length: 10 }, (_, seed) => ({ kind, name: `${kind}-${seed}`, seed })));
    for (const { kind, name, seed } of names) {
      const template = makePod(String(seed), 'node', new Random(seed), kind);
      const created = store.create({ ...template, metadata: { ...template.metadata, namespace: 'default' } });
      const virtualPod = new VirtualPod(created);
      let status: WirePodStatus | undefined;
      const write = () => {
        status = virtualPod.statusOf(created, status);
        store.updateStatus({ ...store.get('default', name), status });
      };
      write();
      virtualPod.ip = '10.0.0.1';
      for (const container of virtualPod.allContainers) {
        container.start();
        write();
        container.exit(1);
        write();
      }
      expect(store.get('default', name).status?.podIPs).toEqual([{ ip: '10.0.0.1' }]);
    }
  });
});

function setUp() {
  vi.useFakeTimers({ now: new Date('2026-01-01T00:00:00Z') });
  const probes: string[] = [];
  const statuses: ProbedStatuses = {
    getPodStatus: () => undefined,
    setContainerStartup: (podUID, containerID, started) => probes.push(`${podUID} ${containerID !== ''} started ${started}`),
    setContainerReadiness: (podUID, containerID, ready) => probes.push(`${podUID} ${containerID !== ''} ready ${ready}`),
  };
  const told: string[] = [];
  const provider = new VirtualProvider(() => statuses);
  provider.notifyPods((pod) => told.push(String(pod)));
  return { probes, provider, told };
}

describe('VirtualProvider', () => {
  it('runs a pod through its life, and tells of each change and probe result', async () => {
    const { probes, provider, told } = setUp();
    const pod = aPod('Always');
    expect(provider.getPodStatus(pod)).toBeUndefined();
    provider.createPod(pod);
    provider.createPod(pod);
    expect(provider.getPodStatus(pod)?.phase).toBe('Pending');
    await vi.advanceTimersByTimeAsync(2000);
    expect(provider.getPodStatus(pod)).toMatchObject({ phase: 'Running', containerStatuses: [{ ready: true, started: true }] });
    expect(probes).toEqual(['u1 true started true', 'u1 true ready true']);
    // its address, its start and two probe results
    expect(told).toEqual(['u1', 'u1', 'u1', 'u1']);
    expect(provider.counts).toMatchObject({ readinessFlips: 1, crashes: 0 });
    await provider.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('shows how the containers of a deleted pod have ended, and then has it no more', async () => {
    const { provider } = setUp();
    const pod = aPod('Always');
    provider.createPod(pod);
    await vi.advanceTimersByTimeAsync(2000);
    const deleted = provider.deletePod(pod, deletion);
    expect(provider.getPodStatus(pod)?.phase).toBe('Running');
    const states: unknown[] = [];
    provider.notifyPods(() => states.push(provider.getPodStatus(pod)?.phase));
    await vi.advanceTimersByTimeAsync(2000);
    await deleted;
    expect(['Succeeded', 'Failed']).toContain(states.at(-1));
    expect(provider.getPodStatus(pod)).toBeUndefined();
    await provider.deletePod(pod, deletion);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('gives up a deletion when it is told to, and a later one brings it to its end', async () => {
    const { provider } = setUp();
    const pod = aPod('Always');
    provider.createPod(pod);
    await vi.advanceTimersByTimeAsync(2000);
    const ending = new AbortController();
    const first = expect(provider.deletePod(pod, { ...deletion, signal: ending.signal })).rejects.toThrow();
    ending.abort();
    await first;
    expect(provider.getPodStatus(pod)?.phase).toBe('Running');
    const second = provider.deletePod(pod, { ...deletion, gracePeriodSeconds: 1 });
    await vi.advanceTimersByTimeAsync(1200);
    await second;
    expect(provider.getPodStatus(pod)).toBeUndefined();
  });

  it('leaves every container as it is once it is frozen, also of a pod that comes later', async () => {
    const { probes, provider } = setUp();
    const [early, late] = [aPod('Always', {}, 'flapping'), aPod('Always')];
    Object.assign(late.metadata ?? {}, { uid: 'u2' });
    provider.createPod(early);
    await vi.advanceTimersByTimeAsync(2000);
    provider.freeze();
    provider.createPod(late);
    const before = probes.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(probes).toHaveLength(before);
    expect(provider.getPodStatus(early)?.phase).toBe('Running');
    expect(provider.getPodStatus(late)?.phase).toBe('Pending');
  });
});

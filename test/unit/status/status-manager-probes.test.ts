import { describe, expect, it } from 'vitest';
import type { WirePodStatus } from '../../../src/api/json/types.ts';
import { Harness, testPod } from './status-harness.ts';

const container = (name: string, id: string, extra = {}) => ({
  name,
  containerID: id,
  image: '',
  imageID: '',
  ready: false,
  restartCount: 0,
  state: { running: {} },
  ...extra,
});
const status: WirePodStatus = {
  conditions: [{ type: 'Ready', status: 'False' }],
  containerStatuses: [container('c1', 'test://1'), container('c2', 'test://2')],
};
const pod = testPod({ spec: { containers: [{ name: 'c1' }, { name: 'c2' }] }, status });

function withPod(): Harness {
  const h = new Harness();
  h.client.store.put(pod);
  h.podManager.addPod(pod);
  return h;
}

/** The ready values of c1, c2 and the pod. */
const readiness = (h: Harness) => {
  const { containerStatuses, conditions } = h.manager.getPodStatus('12345678') ?? {};
  return [...(containerStatuses ?? []).map(({ ready }) => ready), conditions?.[0]?.type === 'Ready' && conditions[0].status];
};
const startup = (h: Harness) => h.manager.getPodStatus('12345678')?.containerStatuses?.map(({ started }) => started);

async function readyAfter(h: Harness, id: string, ready: boolean): Promise<{ changed: boolean; writes: number }> {
  const changed = h.manager.setContainerReadiness('12345678', id, ready);
  return { changed, writes: (await h.calls()).filter((verb) => verb === 'patch').length };
}
async function startedAfter(h: Harness, id: string, started: boolean): Promise<{ changed: boolean; writes: number }> {
  const changed = h.manager.setContainerStartup('12345678', id, started);
  return { changed, writes: (await h.calls()).filter((verb) => verb === 'patch').length };
}
const nothing = { changed: false, writes: 0 };
const oneWrite = { changed: true, writes: 1 };

describe('StatusManager.setContainerReadiness', () => {
  it('ignores a container before its pod has a status [T-SM-055]', async () => {
    const h = withPod();
    expect(await readyAfter(h, 'test://1', true)).toEqual(nothing);
    expect(h.manager.getPodStatus('12345678')).toBeUndefined();
  });

  it('starts from the values of the status [T-SM-056]', async () => {
    const h = withPod();
    await h.set(pod, status);
    expect(readiness(h)).toEqual([false, false, 'False']);
  });

  it('changes nothing for a known result [T-SM-057]', async () => {
    const h = withPod();
    await h.set(pod, status);
    expect(await readyAfter(h, 'test://1', false)).toEqual(nothing);
    expect(readiness(h)).toEqual([false, false, 'False']);
  });

  it('makes one container ready, and the pod when all are ready [T-SM-058] [T-SM-059]', async () => {
    const h = withPod();
    await h.set(pod, status);
    expect(await readyAfter(h, 'test://1', true)).toEqual(oneWrite);
    expect(readiness(h)).toEqual([true, false, 'False']);
    expect(await readyAfter(h, 'test://2', true)).toEqual(oneWrite);
    expect(readiness(h)).toEqual([true, true, 'True']);
    expect(h.apiStatus(pod).conditions).toMatchObject([
      { type: 'Ready', status: 'True' },
      { type: 'ContainersReady', status: 'True' },
    ]);
  });

  it('ignores an unknown container [T-SM-060]', async () => {
    const h = withPod();
    await h.set(pod, status);
    expect(await readyAfter(h, 'test://foo', true)).toEqual(nothing);
    expect(readiness(h)).toEqual([false, false, 'False']);
  });

  it('ignores a pod that the pod manager does not have under this uid', async () => {
    const h = withPod();
    await h.set(pod, status);
    h.podManager.removePod(pod);
    expect(await readyAfter(h, 'test://1', true)).toEqual(nothing);
  });

  it('counts sidecars, finds init containers and never ephemeral ones, and adds a missing Ready', async () => {
    const h = withPod();
    const sidecar = testPod({ spec: { containers: [{ name: 'c1' }], initContainers: [{ name: 's', restartPolicy: 'Always' }] } });
    h.podManager.addPod(sidecar);
    await h.set(sidecar, {
      containerStatuses: [container('c1', 'test://1', { ready: true })],
      initContainerStatuses: [container('s', 'test://s')],
      ephemeralContainerStatuses: [container('e', 'test://e')],
    });
    expect(await readyAfter(h, 'test://e', true)).toEqual(nothing);
    expect(await readyAfter(h, 'test://s', true)).toEqual(oneWrite);
    expect(h.manager.getPodStatus('12345678')?.conditions).toMatchObject([
      { type: 'Ready', status: 'True' },
      { type: 'ContainersReady', status: 'True' },
    ]);
    expect(await readyAfter(h, 'test://s', false)).toEqual(oneWrite);
    expect(readiness(h)).toEqual([true, 'False']);
  });

  it('reads readiness gates from the cached conditions', async () => {
    const h = withPod();
    const gated = testPod({ spec: { ...pod.spec, containers: [{ name: 'c1' }], readinessGates: [{ conditionType: 'gate' }] } });
    h.podManager.addPod(gated);
    const one = { containerStatuses: [container('c1', 'test://1')] };
    await h.set(gated, { ...one, conditions: [{ type: 'Ready', status: 'False' }] });
    await readyAfter(h, 'test://1', true);
    expect(readiness(h)).toEqual([true, 'False']);
    await h.set(gated, {
      ...one,
      conditions: [
        { type: 'Ready', status: 'False' },
        { type: 'gate', status: 'True' },
      ],
    });
    await readyAfter(h, 'test://1', true);
    expect(readiness(h)).toEqual([true, 'True']);
  });

  it('gives Ready the observed generation of the pod, and keeps the status’s own', async () => {
    const h = withPod();
    await h.set({ ...pod, metadata: { ...pod.metadata, generation: 2 } }, status);
    h.podManager.addPod({ ...pod, metadata: { ...pod.metadata, generation: 3 } });
    await readyAfter(h, 'test://1', true);
    expect(h.manager.getPodStatus('12345678')).toMatchObject({
      observedGeneration: 2,
      conditions: [{ observedGeneration: 3 }, {}],
    });
  });
});

describe('StatusManager.setContainerStartup', () => {
  it('ignores a container before its pod has a status [T-SM-061]', async () => {
    const h = withPod();
    expect(await startedAfter(h, 'test://1', true)).toEqual(nothing);
    expect(h.manager.getPodStatus('12345678')).toBeUndefined();
  });

  it('starts from the values of the status [T-SM-062]', async () => {
    const h = withPod();
    await h.set(pod, status);
    expect(startup(h)).toEqual([undefined, undefined]);
  });

  it('counts false after absent as a change [T-SM-063]', async () => {
    const h = withPod();
    await h.set(pod, status);
    expect(await startedAfter(h, 'test://1', false)).toEqual(oneWrite);
    expect(startup(h)).toEqual([false, undefined]);
    expect(await startedAfter(h, 'test://1', false)).toEqual(nothing);
  });

  it('starts each container separately, and recomputes no condition [T-SM-064] [T-SM-065]', async () => {
    const h = withPod();
    await h.set(pod, status);
    const { conditions } = h.manager.getPodStatus('12345678') ?? {};
    expect(await startedAfter(h, 'test://1', true)).toEqual(oneWrite);
    expect(startup(h)).toEqual([true, undefined]);
    expect(await startedAfter(h, 'test://2', true)).toEqual(oneWrite);
    expect(startup(h)).toEqual([true, true]);
    expect(h.manager.getPodStatus('12345678')?.conditions).toEqual(conditions);
  });

  it('ignores an unknown container [T-SM-066]', async () => {
    const h = withPod();
    await h.set(pod, status);
    expect(await startedAfter(h, 'test://foo', true)).toEqual(nothing);
    expect(startup(h)).toEqual([undefined, undefined]);
  });
});

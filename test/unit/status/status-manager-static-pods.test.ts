import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../src/api/json/types.ts';
import { asUpstream, deleting, Harness, randomStatus, testPod } from './status-harness.ts';

const staticPod = testPod({ metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } });
const mirrorPod = (uid = 'mirror-12345678', metadata = {}): WirePod =>
  testPod({
    metadata: {
      uid,
      annotations: { 'kubernetes.io/config.source': 'api', 'kubernetes.io/config.mirror': 'mirror' },
      ...metadata,
    },
  });

/** The static pod as a manifest of that hash has it. */
const withHash = (hash: string, spec: NonNullable<WirePod['spec']>): WirePod => {
  const annotations = { ...staticPod.metadata?.annotations, 'kubernetes.io/config.hash': hash };
  return { ...staticPod, metadata: { ...staticPod.metadata, annotations }, spec };
};
const statusOfContainer = (name: string) => ({ name, ready: false, restartCount: 0, image: '', imageID: '' });

function withStaticPod(options = {}): Harness {
  const h = new Harness(options);
  h.podManager.addPod(staticPod);
  h.client.store.put(mirrorPod());
  return h;
}

describe('StatusManager and a static pod', () => {
  it('returns the status that was set [T-SM-027]', async () => {
    const h = withStaticPod(asUpstream);
    await h.set(staticPod, { message: 'm', startTime: '1999-01-01T00:00:00.9Z' });
    expect(h.manager.getPodStatus('12345678')).toEqual({ message: 'm', startTime: new Date('1999-01-01T00:00:00Z') });
  });

  it('sends nothing while no mirror pod is known [T-SM-028]', async () => {
    const h = withStaticPod(asUpstream);
    expect(await h.set(staticPod, randomStatus())).toEqual([]);
    expect(await h.batch()).toEqual([]);
    expect(h.manager.explain('12345678').phase).toBe('no-mirror-pod');
  });

  it('returns the status for the mirror pod’s uid too [T-SM-029]', async () => {
    const h = withStaticPod(asUpstream);
    await h.set(staticPod, randomStatus());
    h.podManager.addPod(mirrorPod());
    expect(h.manager.getPodStatus('mirror-12345678')).toBe(h.manager.getPodStatus('12345678'));
    expect(h.manager.getPodStatus('mirror-12345678')?.message).toBeDefined();
    expect(h.manager.explain('mirror-12345678').podUID).toBe('12345678');
  });

  it.each([
    ['as upstream', asUpstream, true, ['get', 'patch']],
    ['without an API copy', {}, false, ['get', 'patch']],
    ['with an API copy', {}, true, ['patch']],
  ] as const)('sends the status to the mirror pod at the next batch, %s [T-SM-030]', async (_how, options, observed, calls) => {
    const h = withStaticPod(options);
    await h.set(staticPod, { message: 'static' });
    h.podManager.addPod(observed ? h.api(staticPod) : mirrorPod());
    expect(await h.batch()).toEqual(calls);
    expect(h.api(staticPod)).toMatchObject({ metadata: { uid: 'mirror-12345678' }, status: { message: 'static' } });
    expect(h.manager.explain('12345678')).toMatchObject({ phase: 'in-sync', apiUID: 'mirror-12345678' });
  });

  it('sends the first status of a static pod that takes over the mirror pod of an earlier one', async () => {
    const h = withStaticPod();
    h.podManager.addPod(mirrorPod());
    for (const message of ['a', 'b', 'c']) await h.set(staticPod, { message });
    const next = { ...staticPod, metadata: { ...staticPod.metadata, uid: 'next-static-pod' } };
    h.podManager.removePod(staticPod);
    h.podManager.addPod(next);
    // the GET is for the earlier pod, whose entry goes
    expect(await h.set(next, { message: 'next' })).toEqual(['patch', 'get']);
    expect(h.api(staticPod).status?.message).toBe('next');
  });

  it('takes nothing over from the mirror pod of another manifest', async () => {
    const next = withHash('next', { restartPolicy: 'Never', containers: [{ name: 'app' }] });
    const h = new Harness();
    h.podManager.addPod(next);
    const setup = { ...statusOfContainer('setup'), state: { terminated: { exitCode: 0 } } };
    const app = { ...statusOfContainer('app'), state: { terminated: { exitCode: 1 } } };
    const status = { startTime: '1999-01-01T00:00:00Z', initContainerStatuses: [setup], containerStatuses: [app] };
    h.podManager.addPod({ ...mirrorPod(), status });
    await h.set(next, { containerStatuses: [{ ...app, state: { running: {} } }] });
    expect(h.manager.getPodStatus('12345678')?.containerStatuses).toMatchObject([{ name: 'app', state: { running: {} } }]);
    expect(h.manager.getPodStatus('12345678')?.startTime).not.toEqual(new Date('1999-01-01T00:00:00Z'));
  });

  it('goes on from the mirror pod of the same manifest', async () => {
    const same = withHash('mirror', { restartPolicy: 'Never', containers: [{ name: 'app' }] });
    const h = new Harness();
    h.podManager.addPod(same);
    const app = { ...statusOfContainer('app'), state: { terminated: { exitCode: 1 } } };
    h.podManager.addPod({ ...mirrorPod(), status: { startTime: '1999-01-01T00:00:00Z', containerStatuses: [app] } });
    await h.set(same, { containerStatuses: [{ ...app, state: { running: {} } }] });
    expect(h.manager.getPodStatus('12345678')).toBeUndefined();
    await h.set(same, { containerStatuses: [app] });
    expect(h.manager.getPodStatus('12345678')?.startTime).toEqual(new Date('1999-01-01T00:00:00Z'));
  });

  it('sends nothing more while the mirror pod has the status [T-SM-031]', async () => {
    const h = withStaticPod(asUpstream);
    h.podManager.addPod(mirrorPod());
    await h.set(staticPod, randomStatus());
    h.observe(staticPod);
    expect(await h.batch()).toEqual([]);
    expect(await h.batch()).toEqual([]);
  });

  it.each([
    ['as upstream', asUpstream, ['get']],
    ['by default', {}, ['get']],
  ] as const)('does not write to the old mirror pod when a new one is known, %s [T-SM-032]', async (_way, options, calls) => {
    const h = withStaticPod(options);
    h.podManager.addPod(mirrorPod());
    await h.set(staticPod, randomStatus());
    h.podManager.removePod(mirrorPod());
    h.podManager.addPod(mirrorPod('new-mirror-pod'));
    const before = h.api(staticPod);
    expect(await h.batch()).toEqual(calls);
    expect(h.api(staticPod)).toEqual(before);
  });

  it('sends a status to a recreated mirror pod that appeared before the 404 for the old one came', async () => {
    const h = withStaticPod();
    h.podManager.addPod(h.api(staticPod));
    h.client.hold('patch');
    h.client.failNext('patch', { code: 404 });
    await h.set(staticPod, { message: 'm' });
    h.podManager.removePod(h.api(staticPod));
    h.client.store.delete('new', 'foo', { gracePeriodSeconds: 0 });
    h.client.store.put(mirrorPod('mirror-2'));
    h.podManager.addPod(h.api(staticPod));
    h.client.release();
    await h.batch();
    expect(h.api(staticPod)).toMatchObject({ metadata: { uid: 'mirror-2' }, status: { message: 'm' } });
  });

  it('sends a status again to a recreated mirror pod', async () => {
    const h = withStaticPod();
    h.podManager.addPod(h.api(staticPod));
    await h.set(staticPod, { message: 'again' });
    h.podManager.removePod(mirrorPod());
    h.client.store.put(mirrorPod('mirror-2'));
    h.podManager.addPod(h.api(staticPod));
    expect(await h.batch()).toEqual(['patch']);
    expect(h.apiStatus(staticPod).message).toBe('again');
  });

  it('never deletes its mirror pod [T-SM-074]', async () => {
    const h = withStaticPod(asUpstream);
    h.safety.reclaimed = true;
    h.client.store.put(mirrorPod(undefined, deleting));
    h.podManager.addPod(h.api(staticPod));
    const pod = testPod({ metadata: { ...staticPod.metadata, ...deleting } });
    h.podManager.addPod(pod);
    expect(await h.set(pod, { phase: 'Failed' })).toEqual(['get', 'patch']);
    h.manager.terminatePod(pod);
    expect(await h.calls()).toEqual(['get']);
    expect(h.apiStatus(pod).phase).toBe('Failed');
    expect(await h.batch()).toEqual([]);
  });

  it('keeps its phase after terminatePod, and is no longer finished after its next status', async () => {
    const h = withStaticPod();
    const removed = h.record('podRemoved');
    const updated = h.record('podUpdated');
    h.manager.setPodStatus(staticPod, { phase: 'Running' });
    h.manager.terminatePod(staticPod);
    expect(h.manager.getPodStatus('12345678')?.phase).toBe('Running');
    expect(removed).toHaveLength(1);
    h.manager.setPodStatus(staticPod, { phase: 'Running', message: 'runs again' });
    expect(removed).toHaveLength(1);
    expect(updated).toHaveLength(2);
  });

  it('is not read at each batch when its mirror pod comes and goes', async () => {
    const h = withStaticPod();
    await h.set(staticPod, randomStatus());
    h.podManager.addPod(h.api(staticPod));
    expect(await h.batch()).toEqual(['patch']);
    h.podManager.removePod(mirrorPod());
    expect(await h.batch()).toEqual([]);
    h.observe(staticPod);
    expect(await h.batch()).toEqual([]);
  });
});

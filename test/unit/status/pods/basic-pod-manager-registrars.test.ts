import { beforeEach, describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import type { PodRegistrar } from '../../../../src/status/pods/pod-registrars.ts';
import { unhandledRejectionsOf } from '../../../support/unhandled-rejections.ts';

function pod(
  uid: string,
  members: { name?: string; phase?: string; annotations?: Record<string, string>; version?: string } = {},
): Pod {
  const { name = uid, phase, annotations = {}, version = '1' } = members;
  return {
    metadata: { uid, name, namespace: 'default', annotations, resourceVersion: version },
    ...(phase && { status: { phase } }),
  };
}

let told: string[];
const registrar = (name: string): PodRegistrar => ({
  registerPod: ({ metadata }) => told.push(`${name} + ${metadata?.name}`),
  unregisterPod: ({ metadata }) => told.push(`${name} - ${metadata?.name}`),
});
/** What was told since the last look. */
const took = (): string[] => told.splice(0);

let podManager: BasicPodManager;
beforeEach(() => {
  told = [];
  podManager = new BasicPodManager({ secretManager: registrar('secrets') });
});

describe('BasicPodManager with managers of secrets and config maps', () => {
  it('registers each pod with both when it is added, and again when it is replaced', () => {
    podManager = new BasicPodManager({ secretManager: registrar('secrets'), configMapManager: registrar('config maps') });
    podManager.addPod(pod('a'));
    expect(took()).toEqual(['secrets + a', 'config maps + a']);
    podManager.updatePod(pod('a', { version: '2' }));
    expect(took()).toEqual(['secrets + a', 'config maps + a']);
  });

  it.each(['Succeeded', 'Failed'])('unregisters a pod of phase %s instead', (phase) => {
    podManager.addPod(pod('a', { phase: 'Running' }));
    podManager.updatePod(pod('a', { phase, version: '2' }));
    podManager.addPod(pod('b', { phase }));
    expect(took()).toEqual(['secrets + a', 'secrets - a', 'secrets - b']);
  });

  it('unregisters a pod that is removed, also one that it does not have', () => {
    const added = pod('a');
    podManager.addPod(added);
    podManager.removePod(added);
    podManager.removePod(pod('b'));
    expect(took()).toEqual(['secrets + a', 'secrets - a', 'secrets - b']);
  });

  it('registers mirror pods too, as the kubelet did', () => {
    const mirror = pod('m', { annotations: { 'kubernetes.io/config.mirror': 'hash' } });
    podManager.addPod(mirror);
    podManager.removePod(mirror);
    expect(took()).toEqual(['secrets + m', 'secrets - m']);
  });

  it('registers neither an older copy nor the same object again', () => {
    const held = pod('a', { version: '5' });
    podManager.addPod(held);
    podManager.updatePod(held);
    podManager.updatePod(pod('a', { version: '4' }));
    expect(took()).toEqual(['secrets + a']);
  });

  it('registers the pods of setPods before it unregisters those that are gone', () => {
    podManager.setPods([pod('a'), pod('b')]);
    took();
    podManager.setPods([pod('b'), pod('c')]);
    expect(took()).toEqual(['secrets + b', 'secrets + c', 'secrets - a']);
  });

  it('lets go of what a pod was registered as when its uid comes back under another name', () => {
    podManager.addPod(pod('a', { name: 'old' }));
    podManager.updatePod(pod('a', { name: 'new', version: '2' }));
    podManager.setPods([pod('a', { name: 'newest' })]);
    expect(took()).toEqual(['secrets + old', 'secrets + new', 'secrets - old', 'secrets + newest', 'secrets - new']);
    podManager.removePod(pod('a', { name: 'other' }));
    expect(took()).toEqual(['secrets - newest', 'secrets - other']);
  });

  it('has registered a pod before a listener hears of it', () => {
    podManager.subscribe(() => told.push('listener'));
    podManager.addPod(pod('a'));
    expect(took()).toEqual(['secrets + a', 'listener']);
  });

  it('changes nothing when one pod of a call is refused', () => {
    expect(() => podManager.setPods([pod('a'), { metadata: { name: 'b' } }])).toThrow();
    expect(took()).toEqual([]);
  });

  it('logs what a registrar throws or rejects with, and goes on as if it had worked', async () => {
    const logged: unknown[] = [];
    const note = (fields: object) => logged.push(fields);
    const failing = {
      registerPod: () => {
        throw new Error('thrown');
      },
      unregisterPod: () => Promise.reject(new Error('rejected')),
    };
    const rejections = await unhandledRejectionsOf(async () => {
      const logger = { debug: note, info: note, warn: note, error: note };
      podManager = new BasicPodManager({ secretManager: failing, configMapManager: registrar('config maps'), logger });
      podManager.addPod(pod('a'));
      expect(podManager.getPodByUID('a')).toBeDefined();
      podManager.removePod(pod('a'));
      expect(podManager.getPodByUID('a')).toBeUndefined();
    });
    expect(rejections).toEqual([]);
    expect(took()).toEqual(['config maps + a', 'config maps - a', 'config maps - a']);
    expect(logged).toMatchObject([
      { method: 'registerPod', podUID: 'a' },
      { method: 'unregisterPod', podUID: 'a' },
      { method: 'unregisterPod', podUID: 'a' },
    ]);
  });

  it.each([
    [{ secretManager: {} }, /`secretManager` to be an object with registerPod, unregisterPod/],
    [{ configMapManager: { registerPod: () => {} } }, /`configMapManager` to be an object with unregisterPod/],
    [{ secretManagr: registrar('x') }, /`options.secretManagr` to be absent/],
  ])('refuses options that break a rule: %j', (options, message) => {
    expect(() => new BasicPodManager(options as never)).toThrow(message);
  });
});

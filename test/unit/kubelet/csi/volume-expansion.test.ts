import { describe, expect, it } from 'vitest';
import { PluginCallError } from '../../../../src/kubelet.ts';
import { setUp } from './persistent-world.ts';

const path = '/api/v1/namespaces/shop/persistentvolumeclaims/disk';
const pending = { type: 'FileSystemResizePending', status: 'True' };
const gib = 1024 ** 3;

/** A volume that has grown to 2Gi, and its claim. */
async function grown(status: object = {}, parts: { readonly spec?: object } = {}) {
  const test = await setUp();
  const claim = (more: object = {}) => ({
    metadata: { name: 'disk', namespace: 'shop', resourceVersion: '1', ...more },
    spec: { resources: { requests: { storage: '2Gi' } }, accessModes: ['ReadWriteOnce'], ...parts.spec },
    status: { capacity: { storage: '1Gi' }, conditions: [pending], ...status },
  });
  test.objects.set(path, claim());
  const request = { spec: { capacity: { storage: '2Gi' } } };
  const refuse = (code: string): void => {
    test.state.before.expand = () => Promise.reject(new PluginCallError(code, 'NodeExpandVolume', 'too large'));
  };
  /** A sync of a pod that has it, and what comes of that beside it. */
  const sync = async (): Promise<void> => {
    await test.mount('u1', request);
    await test.settled();
  };
  return { ...test, request, claim, refuse, sync, status: () => test.objects.get(path).status };
}

const allocated = { allocatedResources: { storage: '2Gi' }, allocatedResourceStatuses: { storage: 'NodeResizePending' } };
const succeeded = 'FileSystemResizeSuccessful MountVolume.NodeExpandVolume succeeded for volume "pv-1" node-1';

describe('a volume that has grown behind the node', () => {
  it.each([
    ['of a resizer that says what is allocated', allocated],
    ['of an older one', {}],
  ])('grows before the pod gets it, and the claim is told: %s', async (_, status) => {
    const test = await grown(status);
    await test.mount('u1', test.request);
    const [stage, publish, expand] = test.calls.map((call) => call.split(' ')[0]);
    expect([stage, publish, expand]).toEqual(['stage', 'publish', 'expand']);
    expect(test.expanded).toMatchObject([{ volumeID: 'h-1', requiredBytes: 2 * gib, volumePath: test.published[0]?.targetPath }]);
    expect(test.expanded[0]?.stagingTargetPath).toBe(test.staged[0]?.stagingTargetPath);
    expect(test.status()).toEqual({
      ...('allocatedResources' in status && { allocatedResources: { storage: '2Gi' } }),
      ...{ capacity: { storage: '2Gi' }, conditions: [], allocatedResourceStatuses: {} },
    });
    expect(test.events).toEqual([succeeded]);
  });

  it('grows while pods have it, once', async () => {
    const test = await grown(allocated);
    await test.mount('u1');
    expect(test.expanded).toEqual([]);
    for (let syncs = 0; syncs < 2; syncs++) await test.sync();
    expect(test.expanded).toHaveLength(1);
    expect([test.status().capacity, test.events]).toEqual([{ storage: '2Gi' }, [succeeded]]);
  });

  it('that several nodes have grows on each, also where the claim is told already', async () => {
    const test = await grown(
      { ...allocated, allocatedResourceStatuses: {}, capacity: { storage: '2Gi' } },
      { spec: { accessModes: ['ReadWriteMany'] } },
    );
    await test.mount('u1');
    await test.sync();
    expect(test.expanded).toHaveLength(1);
    const before = test.requests.filter((each) => each.startsWith('PATCH'));
    expect(before).toEqual([]);
  });

  it('is left to the controller while it is not the turn of the node', async () => {
    const test = await grown({ ...allocated, allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' } });
    await test.mount('u1', test.request);
    expect([test.expanded, test.status().capacity.storage]).toEqual([[], '1Gi']);
  });

  it('keeps its pod waiting where its driver refuses, and the controller is told where another size is needed', async () => {
    const test = await grown(allocated);
    test.refuse('OutOfRange');
    const words =
      'MountVolume.Setup failed while expanding volume for volume "pv-1" : Expander.NodeExpand failed to expand the volume';
    await expect(test.mount('u1', test.request)).rejects.toThrow(words);
    expect(test.status().allocatedResourceStatuses.storage).toBe('NodeResizeInfeasible');
    const failure = test.status().conditions.find(({ type }: { readonly type: string }) => type === 'NodeResizeError');
    expect(failure).toMatchObject({
      status: 'True',
      message: expect.stringContaining('failed to expand pvc with Expander.NodeExpand'),
    });
    // nothing more is asked of the driver
    await test.mount('u1', test.request);
    expect([test.expanded.length, test.published.length]).toEqual([1, 1]);
  });

  it('that its driver refuses twice is infeasible where the claim asks for another size meanwhile', async () => {
    const test = await grown(allocated);
    test.refuse('Internal');
    await expect(test.mount('u1', test.request)).rejects.toThrow('too large');
    expect(test.status().allocatedResourceStatuses.storage).toBe('NodeResizeInProgress');
    const smaller = { resources: { requests: { storage: '1500Mi' } }, accessModes: ['ReadWriteOnce'] };
    test.objects.set(path, { ...test.objects.get(path), spec: smaller });
    await expect(test.mount('u1', test.request)).rejects.toThrow('too large');
    expect(test.status().allocatedResourceStatuses.storage).toBe('NodeResizeInfeasible');
  });

  it('that grows only while nobody uses it starts its pod, and is not asked for again', async () => {
    const test = await grown(allocated);
    test.refuse('FailedPrecondition');
    for (let syncs = 0; syncs < 3; syncs++) await test.sync();
    expect([test.expanded.length, test.status().capacity.storage]).toEqual([1, '1Gi']);
  });

  it('keeps its pod going where that fails while it has it, with an event, and is tried again after waits that grow', async () => {
    const test = await grown(allocated);
    await test.mount('u1');
    test.refuse('Unavailable');
    await test.sync();
    const words = 'VolumeResizeFailed NodeExpandVolume.NodeExpandVolume failed for volume "pv-1" : Expander.NodeExpand failed';
    expect(test.events).toEqual([expect.stringContaining(words)]);
    expect(test.status().conditions).toEqual([pending]);
    const told = test.requests.length;
    for (const [waitMs, tries] of [
      [499, 1],
      [1, 2],
      [999, 2],
      [1, 3],
    ] as const) {
      await test.clock.advance(waitMs);
      await test.sync();
      expect(test.expanded).toHaveLength(tries);
      // nothing is asked of the apiserver meanwhile
      if (tries === 1) expect(test.requests).toHaveLength(told);
    }
    test.state.before.expand = () => Promise.resolve();
    await test.clock.advance(2000);
    await test.sync();
    expect([test.expanded.length, test.status().capacity.storage]).toEqual([4, '2Gi']);
  });

  it('costs no sync anything while its driver does not answer, is asked for once, and its pod ends only after that', async () => {
    const test = await grown(allocated);
    await test.mount('u1');
    const answer = Promise.withResolvers<void>();
    test.state.before.expand = () => answer.promise;
    for (let syncs = 0; syncs < 3; syncs++) await test.sync();
    const ended = test.unmount('u1');
    await test.settled();
    expect(test.calls.map((call) => call.split(' ')[0])).toEqual(['stage', 'publish', 'expand']);
    answer.resolve();
    await ended;
    expect(test.calls.map((call) => call.split(' ')[0])).toEqual(['stage', 'publish', 'expand', 'unpublish']);
    expect(test.status().capacity).toEqual({ storage: '2Gi' });
  });

  it('asks nobody while its claim says that it is the turn of the controller', async () => {
    const test = await grown({ ...allocated, allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' } });
    await test.mount('u1');
    const told = test.requests.length;
    await test.mount('u1', { ...test.request, claim: test.objects.get(path) });
    await test.settled();
    expect([test.requests.length, test.expanded]).toEqual([told, []]);
  });

  it('is left as it is by a driver that does nothing on the node, and for a pod that only reads', async () => {
    const test = await grown();
    test.state.capabilities = ['STAGE_UNSTAGE_VOLUME'];
    await test.mount('u1', test.request);
    test.state.capabilities.push('EXPAND_VOLUME');
    await test.mount('u2', { ...test.request, readOnly: true });
    expect(test.expanded).toEqual([]);
    expect(test.events).toEqual([
      'FileSystemResizeFailed MountVolume.NodeExpandVolume failed for volume "pv-1" requested read-only file system',
    ]);
  });

  it('is told of only where nobody has written the claim meanwhile, and is begun anew then', async () => {
    const test = await grown();
    const conflict = Object.assign(new Error('conflict'), { code: 409 });
    let refused = 0;
    Object.defineProperty(test.objects, 'set', {
      value: (key: string, value: object) => {
        if (key === path && refused++ === 0) throw conflict;
        return Map.prototype.set.call(test.objects, key, value);
      },
    });
    const words = 'patchPVCStatus failed to patch PVC "disk": conflict';
    await expect(test.mount('u1', test.request)).rejects.toThrow(words);
    expect(test.status().capacity.storage).toBe('1Gi');
    // the controller has begun to make it larger still
    const more = { ...allocated, allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' } };
    test.objects.set(path, { ...test.objects.get(path), status: { ...test.status(), ...more } });
    await test.mount('u1', test.request);
    expect([test.status().capacity, test.status().allocatedResourceStatuses]).toEqual([
      { storage: '1Gi' },
      more.allocatedResourceStatuses,
    ]);
    expect(test.expanded).toHaveLength(1);
  });
});

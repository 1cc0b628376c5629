import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { until } from '../../../support/until.ts';
import { driver, setUp, unique } from './persistent-world.ts';

const hash = createHash('sha256').update(`h-1${driver}node-1`).digest('hex');
const attachmentName = `csi-${hash}`;
const path = `/apis/storage.k8s.io/v1/volumeattachments/${attachmentName}`;
const failed = 'MountVolume.WaitForAttach failed for volume "pv-1" :';

/** A pod that waits for a volume that is to be attached. */
async function waiting(driverSpec: object | undefined = { attachRequired: true }) {
  const test = await setUp(driverSpec);
  test.storage.start();
  await until(() => test.node.status.volumesInUse !== undefined);
  const ending = new AbortController();
  const failures: string[] = [];
  const mounting = test.mount('u1', { signal: ending.signal }).catch((error: Error) => void failures.push(error.message));
  await until(() => test.node.status.volumesInUse?.length === 1);
  return { ...test, ending, failures, mounting, gets: () => test.requests.filter((each) => each.includes('volumeattachments')) };
}

describe('a volume that is to be attached', () => {
  it('is in use before it is asked for, and is waited for without a request', async () => {
    const test = await waiting();
    await test.clock.advance(60_000);
    expect([test.node.status.volumesInUse, test.gets(), test.calls]).toEqual([[unique], [], []]);
    test.objects.set(path, { status: { attached: true, attachmentMetadata: { lun: '7' } } });
    test.node.status.volumesAttached = [{ name: unique, devicePath: '' }];
    await test.clock.advance(100);
    await test.mounting;
    expect(test.failures).toEqual([]);
    expect(test.gets()).toEqual([`GET ${path}`]);
    expect([test.staged[0]?.publishContext, test.published[0]?.publishContext]).toEqual([{ lun: '7' }, { lun: '7' }]);
  });

  it('is one without a CSIDriver, too', async () => {
    const test = await setUp();
    test.objects.delete(`/apis/storage.k8s.io/v1/csidrivers/${driver}`);
    test.storage.start();
    await until(() => test.node.status.volumesInUse !== undefined);
    void test.mount('u1').catch(() => {});
    await until(() => test.node.status.volumesInUse?.length === 1);
    expect(test.calls).toEqual([]);
  });

  it('is not waited for longer than a kubelet does, and the attacher says why', async () => {
    const test = await waiting();
    test.clock.jump(3_600_000);
    expect(test.storage.problems()).toEqual([]);
    test.clock.jump(-3_600_000);
    await test.clock.advance(20_000);
    const message = `the pod shop/web waits for the volume ${unique}: Volume not attached according to node status`;
    expect(test.storage.problems()).toMatchObject([{ kind: 'volume-attach', message, since: Date.UTC(2026, 0, 1) }]);
    test.objects.set(path, { status: { attached: false, attachError: { message: 'no such disk in this zone' } } });
    await test.clock.advance(103_000);
    await test.mounting;
    const words = 'Volume not attached according to node status for volume "pv-1"';
    expect(test.failures).toEqual([`${words} : no such disk in this zone`]);
    expect(test.storage.problems()).toEqual([]);
    test.objects.delete(path);
    const again = test.mount('u1').catch((error: Error) => error.message);
    await test.settled();
    await test.clock.advance(123_000);
    expect(await again).toBe(`${words} `);
    // the pod may still get it
    expect(test.node.status.volumesInUse).toEqual([unique]);
  });

  it('keeps no pod that is to end waiting, and is in use no more then', async () => {
    const test = await waiting();
    const reason = new Error('it ends');
    test.ending.abort(reason);
    await test.mounting;
    expect(test.failures).toEqual(['it ends']);
    await test.unmount('u1');
    await until(() => test.storage.volumesInUse()?.length === 0);
    expect(test.calls).toEqual([]);
  });

  it.each([
    [undefined, `volume h-1 has GET error for volume attachment ${attachmentName}: not found`],
    [{ status: { attached: false } }, `volume h-1 is not attached for volume attachment ${attachmentName}`],
    [{ status: { attached: false, attachError: { message: 'quota' } } }, 'quota'],
    [
      { metadata: { name: 'x', resourceVersion: '1', deletionTimestamp: 'now' }, status: { attached: true } },
      'volume attachment is being deleted',
    ],
  ])('is not used while its VolumeAttachment is %j', async (attachment, words) => {
    const test = await waiting();
    if (attachment !== undefined) test.objects.set(path, attachment);
    test.node.status.volumesAttached = [{ name: unique, devicePath: '' }];
    await test.clock.advance(100);
    await test.mounting;
    expect([test.failures, test.calls]).toEqual([[`${failed} ${words}`], []]);
  });

  it('is not used before the node has said that it is in use', async () => {
    const test = await setUp({ attachRequired: true });
    test.node.status.volumesAttached = [{ name: unique, devicePath: '' }];
    test.objects.set(path, { status: { attached: true } });
    const mounting = test.mount('u1').catch((error: Error) => error.message);
    await test.settled();
    await test.clock.advance(123_000);
    const words = "Volume has not been added to the list of VolumesInUse in the node's volume status";
    expect([await mounting, test.calls]).toEqual([`${words} for volume "pv-1" `, []]);
  });

  it('that was given back is not used again before the node has said so, and then that it is in use', async () => {
    const test = await waiting();
    test.objects.set(path, { status: { attached: true } });
    test.node.status.volumesAttached = [{ name: unique, devicePath: '' }];
    await test.clock.advance(100);
    await test.mounting;
    test.state.isWritten = false;
    await test.unmount('u1');
    await until(() => test.storage.volumesInUse()?.length === 0);
    // the write is under way
    expect(test.node.status.volumesInUse).toEqual([unique]);
    const before = test.calls.length;
    const coming = test.mount('u2');
    await test.settled();
    await test.clock.advance(1000);
    await test.settled();
    expect([test.calls.slice(before), test.storage.volumesInUse()]).toEqual([[], []]);
    test.node.status.volumesInUse = [];
    await test.clock.advance(100);
    await until(() => test.storage.volumesInUse()?.length === 1);
    await test.clock.advance(1000);
    await test.settled();
    expect(test.calls.slice(before)).toEqual([]);
    test.node.status.volumesInUse = [unique];
    await test.clock.advance(100);
    await coming;
    expect(test.calls.slice(before).map((call) => call.split(' ')[0])).toEqual(['stage', 'publish']);
  });

  it('of an earlier process is in use, until its driver has taken it back', async () => {
    const test = await waiting();
    test.objects.set(path, { status: { attached: true } });
    test.node.status.volumesAttached = [{ name: unique, devicePath: '' }];
    await test.clock.advance(100);
    await test.mounting;
    const later = test.newStorage();
    expect(later.volumesInUse()).toBeUndefined();
    later.start();
    await until(() => later.volumesInUse() !== undefined);
    expect(later.volumesInUse()).toEqual([unique]);
    const answer = Promise.withResolvers<void>();
    test.state.before.unstage = () => answer.promise;
    await test.unmount('u1', later);
    await until(() => test.calls.some((call) => call.startsWith('unstage')));
    expect(later.volumesInUse()).toEqual([unique]);
    answer.resolve();
    await until(() => later.volumesInUse()?.length === 0);
    expect(test.node.status.volumesInUse).toEqual([]);
  });
});

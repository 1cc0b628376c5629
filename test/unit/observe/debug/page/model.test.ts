import { describe, expect, it } from 'vitest';
import type { DebugPodRow } from '../../../../../src/observe/debug/debug-api.ts';
import { FakeClock } from '../../../../../src/testing.ts';
import type { StreamListener } from '../../../../../tools/page/src/model/connection.ts';
import { Model } from '../../../../../tools/page/src/model/model.ts';
import { podDetails, podRow, podRows, summaryOf } from '../../../../real/browser/debug-page/sample-pods.ts';

function setUp(address = '') {
  const clock = new FakeClock();
  const views: string[] = [];
  const reads: string[] = [];
  let stream: StreamListener | undefined;
  const model = new Model({
    openStream: (listener) => {
      stream = listener;
      return () => {};
    },
    readPod: async (podUID) => {
      reads.push(podUID);
      return podDetails(podRow(0, { podUID }));
    },
    readPart: async (kind) => {
      reads.push(kind);
      return { at: 0, kind: 'node', name: 'n', state: 'running', problems: [], problemCount: 0, lines: [] };
    },
    readFleet: async () => undefined,
    readFleetNode: async () => undefined,
    setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
    now: () => clock.now(),
    onChange: () => {},
    onView: (view, isStep) => views.push(`${isStep ? 'step' : 'same'}: ${view}`),
  });
  model.start(address);
  const show = (pods: readonly DebugPodRow[]): void => stream?.onSnapshot({ summary: summaryOf(pods), traffic: [], pods });
  return { clock, model, views, reads, show, stream: (): StreamListener | undefined => stream };
}

describe('Model', () => {
  it('puts every view into the address, and takes it from there again', () => {
    const { model, views } = setUp();
    model.filterBy({ text: 'a&b c' });
    model.filterBy({ sync: ['pending', 'paused'], phase: ['Failed'] });
    model.toggleSort('changed');
    model.toggleSort('changed');
    model.open('uid/1');
    model.close();
    expect(views).toEqual([
      'same: filter=a%26b+c',
      'same: filter=a%26b+c&sync=pending&sync=paused&phase=Failed',
      'same: filter=a%26b+c&sync=pending&sync=paused&phase=Failed&sort=changed',
      'same: filter=a%26b+c&sync=pending&sync=paused&phase=Failed&sort=-changed',
      'step: pod=uid%2F1&filter=a%26b+c&sync=pending&sync=paused&phase=Failed&sort=-changed',
      'step: filter=a%26b+c&sync=pending&sync=paused&phase=Failed&sort=-changed',
    ]);
    const { model: other } = setUp(`#${views[4]?.slice('step: '.length)}`);
    expect(other.rows.filter).toEqual({ text: 'a&b c', sync: ['pending', 'paused'], phase: ['Failed'], trouble: false });
    expect([other.rows.order, other.openPod?.key]).toEqual([{ key: 'changed', descending: true }, 'uid/1']);
  });

  it.each([
    '#sort=constructor',
    '#sort=-',
    '#%E0%A4%A',
    '#pod=',
    '#panel=other',
    '#trouble=no',
  ])('shows the first view for the address %s', (address) => {
    const { model } = setUp(address);
    expect([model.rows.order, model.openPod, model.openPart]).toEqual([
      { key: 'trouble', descending: false },
      undefined,
      undefined,
    ]);
    expect(model.rows.filter.trouble).toBe(false);
  });

  it('has one panel open, a pod or a part, each with an address of its own', () => {
    const { model, views, reads } = setUp();
    model.open('uid-1');
    model.openPanelOf('node');
    expect([model.openPod, model.openPart?.key, model.hasPanel]).toEqual([undefined, 'node', true]);
    model.openPanelOf('scheduler');
    model.openPanelOf('scheduler');
    model.open('uid-2');
    expect([model.openPod?.key, model.openPart]).toEqual(['uid-2', undefined]);
    model.close();
    model.close();
    expect(views).toEqual(['step: pod=uid-1', 'step: panel=node', 'step: panel=scheduler', 'step: pod=uid-2', 'step: ']);
    expect(reads).toEqual(['uid-1', 'node', 'scheduler', 'uid-2']);
    expect(setUp('#panel=scheduler').model.openPart?.key).toBe('scheduler');
    expect(setUp('#panel=node&pod=a').model).toMatchObject({ openPod: { key: 'a' }, openPart: undefined });
  });

  it('gives notes and signs an address that keeps the filter and the order', () => {
    const { model, views } = setUp('#filter=a&sort=-restarts&pod=uid-1');
    expect(model.addressOf({ podUID: 'uid/2' })).toBe('#pod=uid%2F2&filter=a&sort=-restarts');
    expect(model.addressOf({ part: 'node' })).toBe('#panel=node&filter=a&sort=-restarts');
    model.filterBy({ trouble: true });
    expect(views).toEqual(['same: pod=uid-1&trouble=yes&filter=a&sort=-restarts']);
    expect(setUp('#trouble').model.rows.filter.trouble).toBe(true);
  });

  it('reads an open part again each second while it is connected', async () => {
    const { clock, model, reads, show } = setUp('#panel=node');
    await clock.advance(1000);
    model.tick();
    expect(reads).toEqual(['node']);
    show([]);
    await clock.advance(1000);
    model.tick();
    await clock.advance(1000);
    expect(reads).toEqual(['node', 'node', 'node']);
    model.pause();
    model.tick();
    expect(reads).toHaveLength(3);
  });

  it('moves the keyboard through the rows that are shown, and stops at the ends', () => {
    const { model, show } = setUp();
    expect(model.moveActive(1)).toBe(-1);
    show(podRows(10));
    expect(model.moveActive(1)).toBe(0);
    expect(model.moveActive(1)).toBe(1);
    expect(model.moveActive(Number.MAX_SAFE_INTEGER)).toBe(9);
    expect(model.moveActive(1)).toBe(9);
    expect(model.moveActive(Number.NEGATIVE_INFINITY)).toBe(0);
    expect(model.activeUID).toBe(model.rows.shown[0]?.podUID);
  });

  it('stays on the pod, not on the place, when rows move', () => {
    const { model, show, stream } = setUp();
    show([podRow(0, { podUID: 'b', namespace: 'n', name: 'b' }), podRow(0, { podUID: 'c', namespace: 'n', name: 'c' })]);
    model.moveActive(1);
    const added = podRow(0, { podUID: 'a', namespace: 'n', name: 'a' });
    stream()?.onChanges({ summary: summaryOf([]), traffic: [], changed: [added], removed: [] });
    expect([model.activeUID, model.activeIndex()]).toEqual(['b', 1]);
  });

  it('reads the opened pod again when it changes, and only then', async () => {
    const { clock, model, reads, show, stream } = setUp();
    show(podRows(3));
    model.open('uid-00001');
    await clock.advance(1000);
    stream()?.onChanges({ summary: summaryOf([]), traffic: [], changed: [podRow(2)], removed: [] });
    await clock.advance(1000);
    expect(reads).toEqual(['uid-00001']);
    stream()?.onChanges({ summary: summaryOf([]), traffic: [], changed: [podRow(1)], removed: [] });
    await clock.advance(1000);
    stream()?.onChanges({ summary: summaryOf([]), traffic: [], changed: [], removed: ['uid-00001'] });
    await clock.advance(1000);
    expect(reads).toHaveLength(3);
  });

  it("counts ages by the server's clock", () => {
    const { clock, model, stream } = setUp();
    const summary = { ...summaryOf([]), at: clock.now() + 3_600_000 };
    stream()?.onSnapshot({ summary, traffic: [], pods: [] });
    expect(model.now()).toBe(clock.now() + 3_600_000);
  });
});

import { describe, expect, it } from 'vitest';
import type { DebugPod } from '../../../../../src/observe/debug/debug-api.ts';
import { FakeClock, settle } from '../../../../../src/testing.ts';
import { OpenPanel } from '../../../../../tools/page/src/model/open-panel.ts';
import { podDetails, podRow } from '../../../../real/browser/debug-page/sample-pods.ts';

interface Read {
  readonly podUID: string;
  readonly resolve: (pod: DebugPod | undefined) => void;
  readonly reject: (error: Error) => void;
}

function setUp() {
  const clock = new FakeClock();
  const reads: Read[] = [];
  const openPod = new OpenPanel<DebugPod>({
    what: 'pod',
    read: (podUID) => {
      const { promise, resolve, reject } = Promise.withResolvers<DebugPod | undefined>();
      reads.push({ podUID, resolve, reject });
      return promise;
    },
    setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
    onChange: () => {},
  });
  return { clock, reads, openPod };
}

const details = podDetails(podRow(1));

describe('OpenPanel', () => {
  it('reads the pod that is opened, once', async () => {
    const { reads, openPod } = setUp();
    openPod.open('a');
    openPod.open('a');
    expect(openPod.state).toEqual({ key: 'a', shown: undefined, failure: undefined });
    reads[0]?.resolve(details);
    await settle();
    expect(openPod.state).toEqual({ key: 'a', shown: details, failure: undefined });
    expect(reads).toHaveLength(1);
  });

  it('reads again after changes, twice a second at most, one read at a time', async () => {
    const { clock, reads, openPod } = setUp();
    openPod.open('a');
    for (let change = 0; change < 5; change += 1) openPod.refresh();
    await clock.advance(5_000);
    expect(reads).toHaveLength(1);
    reads[0]?.resolve(details);
    await clock.advance(499);
    expect(reads).toHaveLength(1);
    await clock.advance(1);
    expect(reads).toHaveLength(2);
    reads[1]?.resolve(details);
    await clock.advance(60_000);
    expect(reads).toHaveLength(2);
    openPod.refresh();
    expect(reads).toHaveLength(3);
  });

  it('keeps what it knows when a later read fails or finds no pod, and says so', async () => {
    const { clock, reads, openPod } = setUp();
    openPod.open('a');
    reads[0]?.resolve(details);
    await clock.advance(500);
    openPod.refresh();
    reads[1]?.reject(new Error('no line'));
    await clock.advance(500);
    expect(openPod.state).toEqual({ key: 'a', shown: details, failure: 'The pod could not be read: Error: no line' });
    openPod.refresh();
    reads[2]?.resolve(undefined);
    await clock.advance(500);
    expect(openPod.state).toEqual({ key: 'a', shown: details, failure: 'The server knows no such pod any more.' });
  });

  it('drops the answer for a pod that was closed or exchanged', async () => {
    const { clock, reads, openPod } = setUp();
    openPod.open('a');
    openPod.open('b');
    reads[0]?.resolve(details);
    await settle();
    expect(openPod.state).toEqual({ key: 'b', shown: undefined, failure: undefined });
    openPod.close();
    reads[1]?.resolve(details);
    await settle();
    expect([openPod.state, clock.pendingTimers]).toEqual([undefined, 0]);
  });
});

import { describe, expect, it } from 'vitest';
import {
  endedStatus,
  isOver,
  lostContainers,
  lostStatus,
  statusOfAnswer,
  waitingStatus,
} from '../../../../src/node/provider/provided-status.ts';
import { Counter, numbered } from '../../../support/counted.ts';

const size = 2000;
const fewLooks = 100 * size;

describe("a provider's status of a pod with thousands of containers", () => {
  const counter = new Counter();
  const specsOf = (first: string) =>
    counter.readingAll(
      numbered(size, (i) => ({ name: `${first}${i}`, image: 'i' })),
      'name',
    );
  /** The last one first, as no list is searched for long. */
  const statusesOf = (first: string) =>
    counter.readingAll(
      numbered(size, (i) => ({
        ...{ name: `${first}${size - 1 - i}`, image: 'i', imageID: '', ready: false, restartCount: 0, lastState: {} },
        state: { terminated: { exitCode: 1 } },
      })),
      'name',
    );
  const pod = { metadata: { uid: 'u1' }, spec: { containers: specsOf('c'), initContainers: specsOf('i') } };
  const all = { containerStatuses: statusesOf('c'), initContainerStatuses: statusesOf('i') };
  const facts = { pod, previous: { phase: 'Running' as const, ...all }, hostIPs: [], now: 0 };

  it.each<[string, () => unknown]>([
    ['a phase alone', () => statusOfAnswer(facts, { phase: 'Running' })],
    ['all statuses', () => statusOfAnswer(facts, { phase: 'Running', ...all })],
    ['waiting', () => waitingStatus(facts, 'ContainerCreating')],
    ['lost', () => lostStatus(facts)],
    ['which containers are lost', () => lostContainers(facts, { phase: 'Running', ...all })],
    ['ended', () => endedStatus(facts, undefined)],
    ['whether it is over', () => isOver(pod, { phase: 'Running', ...all })],
  ])('%s: each name is read a few times', (_name, act) => {
    expect(counter.during(act)).toBeLessThan(fewLooks);
  });
});

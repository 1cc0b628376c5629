import { describe, expect, it } from 'vitest';
import type { WireContainerStatus, WirePod, WirePodStatus } from '../../../src/api/json/types.ts';
import { normalizeStatus } from '../../../src/status/canonical/normalize-status.ts';
import { deleting, Harness, testPod } from './status-harness.ts';

const order = ['first', 'second', 'third', 'fourth'];
const pod: WirePod = { spec: { containers: [], initContainers: order.map((name) => ({ name })) } };
const statusOf = (name: string): WireContainerStatus => ({
  name,
  image: `image of ${name}`,
  imageID: '',
  ready: true,
  restartCount: 0,
  state: {},
  lastState: {},
});
const normalized = (statuses: WireContainerStatus[]): WireContainerStatus[] | undefined =>
  normalizeStatus(pod, { initContainerStatuses: statuses }).initContainerStatuses;

describe('order of init container statuses', () => {
  it.each([
    ['keeps spec order', 'T-TY-05', order, order],
    ['brings a shuffled list into spec order', 'T-TY-06', ['second', 'first', 'fourth', 'third'], order],
    ['brings two of four into spec order', 'T-TY-07', ['fourth', 'first'], ['first', 'fourth']],
    ['keeps two of four that are in spec order', 'T-TY-08', ['first', 'third'], ['first', 'third']],
  ])('%s [%s]', (_behaviour, _id, given, wanted) => {
    const input = given.map(statusOf);
    expect(normalized(input)).toEqual(wanted.map(statusOf));
    expect(input).toEqual(given.map(statusOf));
  });

  // An agent may keep its statuses in a map by name; the map's order must not change the result.
  it.each([
    ['lists a map filled in spec order', 'T-TY-09', order, order],
    ['lists a map filled in another order', 'T-TY-10', ['fourth', 'second', 'third', 'first'], order],
    ['lists a map with a gap, filled in another order', 'T-TY-11', ['fourth', 'first', 'third'], ['first', 'third', 'fourth']],
    ['lists a map with a gap, filled in spec order', 'T-TY-12', ['first', 'third', 'fourth'], ['first', 'third', 'fourth']],
  ])('%s [%s]', (_behaviour, _id, filled, wanted) => {
    const byName = new Map(filled.map((name) => [name, statusOf(name)]));
    expect(normalized([...byName.values()])).toEqual(wanted.map(statusOf));
  });
});

// D4 of docs/divergences. Upstream compares the first status with the API's as it lies there, and refuses every one.
describe.each([
  'strategic',
  'json',
] as const)('StatusManager, a pod whose API status has its init containers out of order (%s)', (patchFormat) => {
  const ended = { terminated: { exitCode: 0, reason: 'Completed' } };
  const running = { running: { startedAt: '1999-12-31T00:00:00Z' } };
  const spec = {
    restartPolicy: 'Never',
    containers: [{ name: 'app' }],
    initContainers: ['first', 'second'].map((name) => ({ name })),
  };
  const shuffled: WirePodStatus = {
    phase: 'Pending',
    initContainerStatuses: [
      { ...statusOf('second'), state: { waiting: { reason: 'PodInitializing' } } },
      { ...statusOf('first'), state: ended },
    ],
  };
  const published = (metadata = {}) => {
    const h = new Harness({ patchFormat, terminateWhenReclaimed: false });
    return { h, pod: h.publish(testPod({ metadata, spec, status: shuffled })), refusals: h.record('illegalTransition') };
  };

  it('takes the first status and writes it, in the order of the spec', async () => {
    const { h, pod, refusals } = published();
    const status: WirePodStatus = {
      phase: 'Running',
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1' }],
      initContainerStatuses: [
        { ...statusOf('second'), restartCount: 2, state: ended, lastState: { terminated: { exitCode: 3 } } },
        { ...statusOf('first'), state: ended },
      ],
      containerStatuses: [{ ...statusOf('app'), state: running }],
    };
    expect(await h.set(pod, status)).toEqual(['patch']);
    expect(refusals).toEqual([]);
    expect(h.apiStatus(pod)).toMatchObject({ ...status, initContainerStatuses: status.initContainerStatuses?.toReversed() });
    expect(h.manager.getPodStatus('12345678')?.initContainerStatuses?.map(({ name }) => name)).toEqual(['first', 'second']);
  });

  it('finishes it, so that it can be deleted', async () => {
    const { h, pod, refusals } = published(deleting);
    h.safety.reclaimed = true;
    expect(h.manager.terminatePod(pod)).toBe(true);
    expect(await h.calls()).toEqual(['patch', 'delete']);
    expect(refusals).toEqual([]);
  });

  it('still refuses an init container that comes back from its end', async () => {
    const { h, pod, refusals } = published();
    const again = [
      { ...statusOf('first'), state: running },
      { ...statusOf('second'), state: {} },
    ];
    expect(await h.set(pod, { phase: 'Pending', initContainerStatuses: again })).toEqual([]);
    expect(refusals).toHaveLength(1);
    expect(h.manager.getPodStatus('12345678')).toBeUndefined();
  });
});

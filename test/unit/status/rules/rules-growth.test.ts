import { afterEach, describe, expect, it, vi } from 'vitest';
import type { WireContainerStatus, WirePodCondition, WirePodStatus } from '../../../../src/api/json/types.ts';
import { inSpecOrder } from '../../../../src/status/canonical/canonical-status.ts';
import { normalizeStatus } from '../../../../src/status/canonical/normalize-status.ts';
import { generateReadinessConditions } from '../../../../src/status/conditions/generate-conditions.ts';
import { generateConditions } from '../../../../src/status/conditions/generate-pod-conditions.ts';
import { generateAllContainersRestartingCondition } from '../../../../src/status/conditions/generate-runtime-conditions.ts';
import { carryOverContainerStatuses } from '../../../../src/status/rules/carry-over.ts';
import { checkContainerStateTransition } from '../../../../src/status/rules/container-state-transition.ts';
import { mergePodStatus } from '../../../../src/status/rules/merge-pod-status.ts';
import { isPodStatusByKubeletEqual } from '../../../../src/status/rules/pod-status-equality.ts';
import { differsFromServer, withServerFillIns } from '../../../../src/status/rules/server-fill-ins.ts';
import { PodStatuses, updateStatusInternal } from '../../../../src/status/status-cache.ts';
import { Counter, numbered } from '../../../support/counted.ts';

const size = 4000;
/** What a few looks at each of the items may read. */
const fewLooks = 40 * size;
const noTypes: ReadonlySet<string> = new Set();
const counter = new Counter();

const foreign = numbered(size, (i): WirePodCondition => ({ type: `x/${i}`, status: 'True' }));
const ready: WirePodCondition = { type: 'Ready', status: 'True' };
/** Types that count, each many times, behind or in front of thousands that do not. */
const disrupted = numbered(size, (): WirePodCondition => ({ type: 'DisruptionTarget', status: 'True' }));
const conditionsOf = (...lists: WirePodCondition[][]): WirePodCondition[] => counter.readingAll(lists.flat(), 'type');

const container = (i: number): WireContainerStatus => ({
  name: `c${i}`,
  image: '',
  imageID: '',
  ready: false,
  restartCount: 0,
  state: { terminated: { exitCode: 1 } },
  lastState: {},
});
const containers = numbered(size, container);
const shifted = [...containers.slice(1), container(0)];
const statusesOf = (list: WireContainerStatus[]): WireContainerStatus[] => counter.readingAll(list, 'name');
const specOf = (list: readonly { name: string }[]): { name: string }[] =>
  counter.readingAll(
    list.map(({ name }) => ({ name })),
    'name',
  );

describe('rules for a pod with thousands of conditions of others', () => {
  const merge = { pod: {}, couldHaveRunningContainers: false, now: '2026-01-01T00:00:00Z' };

  it.each<[string, () => unknown]>([
    [
      'fill-ins',
      () => withServerFillIns({ conditions: conditionsOf(foreign, [ready]) }, { conditions: conditionsOf([ready], foreign) }),
    ],
    [
      'differences',
      () => differsFromServer({ conditions: conditionsOf(foreign) }, { conditions: conditionsOf(foreign.toReversed()) }, noTypes),
    ],
    ['the merge', () => mergePodStatus({ conditions: conditionsOf(foreign) }, { conditions: [ready] }, merge)],
    [
      'the merge of an end',
      () =>
        mergePodStatus(
          { conditions: conditionsOf(foreign, disrupted) },
          { phase: 'Failed', conditions: conditionsOf(disrupted) },
          merge,
        ),
    ],
    [
      'equality, with types that repeat',
      () =>
        isPodStatusByKubeletEqual(
          { conditions: conditionsOf(disrupted, foreign) },
          { conditions: conditionsOf(disrupted, foreign, [ready]) },
        ),
    ],
    [
      'an equal part, with types that repeat',
      () =>
        normalizeStatus(
          {},
          { conditions: conditionsOf(foreign, disrupted) },
          { previous: normalizeStatus({}, { conditions: conditionsOf(foreign, disrupted) }) },
        ),
    ],
    [
      'readiness gates',
      () => {
        const gates = foreign.map(({ type }) => ({ conditionType: type }));
        const pod = { spec: { containers: [], readinessGates: gates } };
        return generateReadinessConditions(pod, {}, { conditions: conditionsOf(foreign) });
      },
    ],
    [
      'times',
      () =>
        updateStatusInternal(new PodStatuses(), {
          pod: {},
          podUID: 'u1',
          status: { conditions: conditionsOf(foreign, disrupted) },
          fallback: (): WirePodStatus => ({ conditions: conditionsOf(foreign, disrupted) }),
          force: false,
          podIsFinished: false,
          isAcknowledged: () => true,
          elapsed: () => 0,
          now: 0,
        }),
    ],
  ])('%s read each type a few times', (_name, act) => {
    expect(counter.during(act)).toBeLessThan(fewLooks);
  });
});

afterEach(() => void vi.restoreAllMocks());

describe('generateConditions', () => {
  it('copies no list for each of thousands of conditions of others', () => {
    const copies = [vi.spyOn(Array.prototype, 'with'), vi.spyOn(Array.prototype, 'findIndex')];
    const pod = { status: { conditions: foreign } };
    const conditions = generateConditions(pod, undefined, {
      conditions: foreign.map((condition) => ({ ...condition, status: 'False' })),
    });
    const copied = copies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    expect(conditions.slice(0, size)).toEqual(foreign.map(({ type }) => ({ type, status: 'False' })));
    expect(copied).toBeLessThan(10);
  });
});

describe('rules for a pod with thousands of containers', () => {
  const spec = { restartPolicy: 'Never', containers: specOf(shifted), initContainers: specOf(containers) };

  it.each<[string, () => unknown]>([
    [
      'fill-ins',
      () => withServerFillIns({ containerStatuses: statusesOf(containers) }, { containerStatuses: statusesOf(shifted) }),
    ],
    [
      'equal parts',
      () =>
        normalizeStatus(
          {},
          { initContainerStatuses: statusesOf(shifted) },
          { previous: { initContainerStatuses: statusesOf(containers) } },
        ),
    ],
    ['the order of the spec', () => inSpecOrder(statusesOf(containers.toReversed()), specOf(containers))],
    [
      'transitions',
      () =>
        checkContainerStateTransition(
          { containerStatuses: statusesOf(containers), initContainerStatuses: statusesOf(containers) },
          { containerStatuses: statusesOf(shifted), initContainerStatuses: statusesOf(shifted) },
          spec,
        ),
    ],
    [
      'the first status after a restart',
      () =>
        carryOverContainerStatuses(
          { spec, status: { containerStatuses: statusesOf(containers) } },
          { phase: 'Running', containerStatuses: statusesOf(shifted), conditions: [ready] },
        ),
    ],
    [
      'readiness',
      () => generateReadinessConditions({ spec }, {}, { phase: 'Running', containerStatuses: statusesOf(containers) }),
    ],
    [
      'a restart of all',
      () => {
        const records = statusesOf(containers).map((status) => Object.assign(status, { state: 'exited' as const }));
        return generateAllContainersRestartingCondition(
          { spec },
          { containerStatuses: statusesOf(containers) },
          records as never,
          'Running',
        );
      },
    ],
  ])('%s read each name a few times', (_name, act) => {
    expect(counter.during(act)).toBeLessThan(fewLooks);
  });
});

describe('inSpecOrder', () => {
  const named = (...names: string[]): WireContainerStatus[] => names.map((name) => ({ ...container(0), name }));
  const order = (statuses: string[], spec: string[]): string[] =>
    inSpecOrder(named(...statuses), named(...spec)).map(({ name }) => name);

  it('leaves what the spec does not name where upstream swaps it to', () => {
    expect(order(['x', 'b', 'y', 'a'], ['a', 'b'])).toEqual(['a', 'b', 'y', 'x']);
    expect(order(['x', 'y', 'z', 'a', 'b', 'c'], ['c', 'b', 'a'])).toEqual(['c', 'b', 'a', 'z', 'y', 'x']);
    expect(order(['b', 'b', 'a', 'b'], ['a', 'b'])).toEqual(['a', 'b', 'b', 'b']);
  });
});

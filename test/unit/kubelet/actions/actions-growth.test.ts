import { describe, expect, it } from 'vitest';
import { computePodActions } from '../../../../src/kubelet/actions/compute-pod-actions.ts';
import type { ContainerState } from '../../../../src/kubelet/runtime/runtime-containers.ts';
import { Counter, numbered } from '../../../support/counted.ts';
import { statusOf } from './actions-of.ts';

const size = 2000;
const fewLooks = 40 * size;

describe('what is to be done with a pod with thousands of containers', () => {
  const counter = new Counter();
  const named = (first: string) =>
    counter.readingAll(
      numbered(size, (i) => ({ name: `${first}${i}`, image: 'i', restartPolicy: 'Always' })),
      'name',
    );
  const spec = { containers: named('c'), initContainers: named('i'), ephemeralContainers: named('e') };
  const pod = { metadata: { uid: 'web', name: 'web', namespace: 'default' }, spec };

  /** All of the pod's containers in the runtime, the last one first. */
  function inputWith(state: ContainerState, restartsAll: boolean) {
    const names = [spec.containers, spec.initContainers, spec.ephemeralContainers].flatMap((list) =>
      list.map(({ name }) => name),
    );
    const status = statusOf({ pod, containers: names.toReversed().map((name) => [name, state]) });
    const counted = { ...status, containers: counter.readingAll(status.containers, 'name') };
    return { pod, status: counted, restartsAll, probeResult: () => undefined, containerHash: () => '' };
  }

  it.each<[string, ContainerState, boolean]>([
    ['runs', 'running', false],
    ['has ended', 'exited', false],
    ['is made anew', 'exited', true],
  ])('is found with a few looks at each where all of it %s', (_name, state, restartsAll) => {
    const input = inputWith(state, restartsAll);
    expect(counter.during(() => computePodActions(input))).toBeLessThan(fewLooks);
  });
});

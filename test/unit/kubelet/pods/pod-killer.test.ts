import { expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import { type ContainerKiller, PodKiller, TerminationOrder } from '../../../../src/kubelet/pods/container-killer.ts';
import { buildPod, settle } from '../../../../src/testing.ts';

const names = (letter: string, count: number) => Array.from({ length: count }, (_, index) => `${letter}${index}`);
const regular = (name: string) => ({ name, image: 'i' });
const sidecar = (name: string) => ({ name, image: 'i', restartPolicy: 'Always' });

/** The same pod, of whose containers each look at one is counted. */
function counted(pod: WirePod) {
  const looks = { count: 0 };
  const list = <T extends object>(items: readonly T[]): T[] =>
    new Proxy([...items], {
      get: (target, key, receiver) => {
        if (typeof key === 'string' && /^\d+$/.test(key)) looks.count += 1;
        return Reflect.get(target, key, receiver) as unknown;
      },
    });
  const { containers = [], initContainers = [] } = pod.spec ?? { containers: [] };
  return { looks, pod: { ...pod, spec: { ...pod.spec, containers: list(containers), initContainers: list(initContainers) } } };
}

it('a pod of many containers and sidecars is ended with a few looks at each', async () => {
  const [apps, sidecars] = [names('app', 500), names('side', 500)];
  const made = buildPod({ spec: { containers: apps.map(regular), initContainers: sidecars.map(sidecar) } });
  const { pod, looks } = counted(made);
  const killed: string[] = [];
  const containers: Pick<ContainerKiller, 'kill'> = {
    kill: async ({ containerName, turn }) => {
      await turn?.();
      killed.push(containerName);
    },
  };
  const killer = new PodKiller({ runtime: { stopPodSandbox: async () => undefined }, containers: containers as ContainerKiller });
  const running = [...apps, ...sidecars].map((name) => ({ name, id: name }));
  const request = { pod, containers: running, sandboxIDs: [], gracePeriodSeconds: undefined, podIP: undefined };
  await killer.kill(request, new AbortController().signal);
  expect(killed).toEqual([...apps, ...sidecars.toReversed()]);
  expect(looks.count).toBeLessThan(10 * running.length);
});

it('a sidecar waits for the regular containers and the sidecar after it, as far as they run', async () => {
  const pod = buildPod({
    spec: { containers: ['a', 'b'].map(regular), initContainers: ['s1', 's2', 's3'].map(sidecar) },
  });
  const order = new TerminationOrder(pod, ['a', 's1', 's2', 's3']);
  const begun: string[] = [];
  for (const name of ['s1', 's2', 's3', 'a']) void order.turn(name).then(() => begun.push(name));
  await settle();
  expect(begun).toEqual(['a']);
  order.ended('a');
  await settle();
  expect(begun).toEqual(['a', 's3']);
  order.ended('s3');
  await settle();
  expect(begun).toEqual(['a', 's3', 's2']);
  order.ended('s2');
  await settle();
  expect(begun).toEqual(['a', 's3', 's2', 's1']);
});

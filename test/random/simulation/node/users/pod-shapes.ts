import type { Pod } from '../../../../../src/index.ts';
import { decodeStaticPods } from '../../../../../src/node.ts';
import type { Prng } from '../../../chaos/prng.ts';
import type { Character } from '../runtime/lives.ts';

type Container = NonNullable<Pod['spec']>['containers'][number];

/** Images say how their containers behave. */
export function imageOf(character: Character, version: number): string {
  return `example.test/${character}:${version}`;
}

export function characterOf(image: string): Character {
  return (/\/(\w+):/.exec(image)?.[1] ?? 'steady') as Character;
}

/** A pod as a user writes it, without its metadata. */
export function drawSpec(prng: Prng, version: number): object {
  const restartPolicy = prng.weighted({ Always: 5, OnFailure: 3, Never: 4 });
  const character = prng.weighted<Character>(
    restartPolicy === 'Always' ? { steady: 6, crashing: 2, job: 0, init: 0 } : { steady: 2, crashing: 2, job: 6, init: 0 },
  );
  const names = prng.chance(0.3) ? ['app', 'side'] : ['app'];
  const containers = names.map((name) => ({ name, image: imageOf(character, version), ...drawProbes(prng) }));
  const initContainers = prng.chance(0.25) ? [{ name: 'setup', image: imageOf('init', version) }] : [];
  const terminationGracePeriodSeconds = prng.pick([0, 1, 5, 5, 30, 60]) ?? 30;
  return { restartPolicy, terminationGracePeriodSeconds, containers, initContainers };
}

function drawProbes(prng: Prng): Partial<Container> {
  const probe = (type: string) => ({
    exec: { command: [type] },
    periodSeconds: prng.pick([1, 3, 10]) ?? 10,
    failureThreshold: prng.pick([1, 3]) ?? 3,
    timeoutSeconds: prng.pick([1, 5]) ?? 1,
  });
  return {
    ...(prng.chance(0.4) && { livenessProbe: probe('live') }),
    ...(prng.chance(0.4) && { readinessProbe: probe('ready') }),
  };
}

/** The static pod of a manifest. */
export function staticPodOf(name: string, spec: object, nodeName: string): Pod {
  const manifest = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec });
  const [pod] = decodeStaticPods(manifest, { source: `/etc/kubernetes/manifests/${name}.json`, isFile: true, nodeName });
  if (pod === undefined) throw new Error('a manifest holds a pod');
  return pod as Pod;
}

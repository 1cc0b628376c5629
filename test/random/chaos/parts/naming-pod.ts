import type { WirePod } from '../../../../src/api/json/types.ts';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import type { Prng } from '../prng.ts';
import type { NamedObjects } from './references.ts';

type Spec = NonNullable<WirePod['spec']>;
type Volume = NonNullable<Spec['volumes']>[number];

/** A pod that names these objects, each at one of the places in which a pod can. */
export function podNaming(namespace: string, uid: string, names: NamedObjects, prng: Prng): WirePod {
  const volumes: Volume[] = [];
  const envFrom: NonNullable<Spec['containers'][number]['envFrom']> = [];
  const env: NonNullable<Spec['containers'][number]['env']> = [];
  const imagePullSecrets: { name: string }[] = [];
  for (const name of names.secrets) {
    const place = prng.pick(['volume', 'projected', 'envFrom', 'env', 'pull']);
    if (place === 'volume') volumes.push({ name: `s-${name}`, secret: { secretName: name } });
    else if (place === 'projected') volumes.push({ name: `p-${name}`, projected: { sources: [{ secret: { name } }] } });
    else if (place === 'envFrom') envFrom.push({ secretRef: { name } });
    else if (place === 'env') env.push({ name: `S_${name}`, valueFrom: { secretKeyRef: { name, key: 'value' } } });
    else imagePullSecrets.push({ name });
  }
  for (const name of names.configmaps) {
    const place = prng.pick(['volume', 'projected', 'envFrom', 'env']);
    if (place === 'volume') volumes.push({ name: `c-${name}`, configMap: { name } });
    else if (place === 'projected') volumes.push({ name: `q-${name}`, projected: { sources: [{ configMap: { name } }] } });
    else if (place === 'envFrom') envFrom.push({ configMapRef: { name } });
    else env.push({ name: `C_${name}`, valueFrom: { configMapKeyRef: { name, key: 'value' } } });
  }
  const containers = [{ name: 'app', image: 'example.test/app:1', envFrom, env }];
  return buildPod({ metadata: { namespace, name: `pod-${uid}`, uid }, spec: { containers, volumes, imagePullSecrets } });
}

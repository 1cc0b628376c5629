// Behaviour of pkg/api/pod HasAPIObjectReference, v1.36.3: a static pod runs without an apiserver.

import type { WirePod } from '../json/types.ts';
import { podConfigMapNames, podSecretNames } from '../pod/pod-references.ts';
import { refuse } from './text/invalid-manifest.ts';
import type { PodSpec, Volume } from './types/pod-parts.ts';

/** Volumes that only an apiserver can give, with what they refer to. */
const volumeReferences: { readonly [K in keyof Volume]?: string } = {
  configMap: 'config maps',
  secret: 'secrets',
  csi: 'CSI drivers',
  glusterfs: 'endpoints',
  persistentVolumeClaim: 'persistent volume claims',
  ephemeral: 'persistent volume claims',
  azureFile: 'secrets',
};

/** Throws a fault for a pod that refers to an object of the apiserver. */
export function refuseApiReferences(pod: WirePod & { spec: PodSpec }): void {
  const { spec } = pod;
  if (spec.serviceAccountName !== undefined)
    refuseReference('spec.serviceAccountName', 'service accounts', spec.serviceAccountName);
  for (const name of podSecretNames(pod)) refuseReference('spec', 'secrets', name);
  for (const name of podConfigMapNames(pod)) refuseReference('spec', 'config maps', name);
  if ((spec.resourceClaims ?? []).length > 0) refuseReference('spec.resourceClaims', 'resource claims', spec.resourceClaims);
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    for (const kind of Object.keys(volume)) {
      const what = volumeReferences[kind as keyof Volume];
      if (what !== undefined) refuseReference(`spec.volumes[${index}].${kind}`, what, {});
    }
    for (const [at, source] of (volume.projected?.sources ?? []).entries()) {
      const isLocal = Object.keys(source).join() === 'downwardAPI';
      if (!isLocal) refuseReference(`spec.volumes[${index}].projected.sources[${at}]`, 'objects of the apiserver', source);
    }
  }
}

function refuseReference(path: string, what: string, value: unknown): never {
  return refuse(path, `free of references to ${what}, which a static pod may not have`, value);
}

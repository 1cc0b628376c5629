import { readFile } from 'node:fs/promises';
import type { KubeTransport } from 'pod-status-manager';
import { ResourceClient, resources } from 'pod-status-manager/reflector';
import { type ProfileMaker, policyProfile } from 'pod-status-manager/scheduler';
import type { PolicyPlace } from './flags.ts';

/** The key of a ConfigMap that has a policy, as the classic scheduler reads it. */
const key = 'policy.cfg';

/** The profile of a policy; undefined where there is none. Rejects, naming the place, for a policy that cannot be read or used. */
export async function policyOf(place: PolicyPlace, transport: KubeTransport): Promise<ProfileMaker | undefined> {
  if (place === undefined) return undefined;
  const where = 'file' in place ? place.file : `ConfigMap ${place.namespace}/${place.name}`;
  try {
    return policyProfile('file' in place ? await readFile(place.file, 'utf8') : await textOf(place, transport));
  } catch (error) {
    throw new Error(`${where}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

async function textOf(place: { readonly name: string; readonly namespace: string }, transport: KubeTransport): Promise<string> {
  const { data } = await new ResourceClient(transport, resources.configMaps).get(place);
  const text = data?.[key];
  if (text === undefined) throw new Error(`expected a policy in the key ${key}, got none`);
  return text;
}

// Behaviour of MakePayload in pkg/volume/configmap and pkg/volume/secret, v1.36.3.

import { isStatusManagerError } from '../errors.ts';
import type { ProjectedFile } from '../files/projected-files.ts';
import { goQuote } from '../wire/go-quote.ts';
import type { VolumeRequest } from './volume-request.ts';
import { whileGoing } from './while-going.ts';

/** Where in a config map or a secret the files of a volume come from. */
export interface ObjectSource {
  readonly name?: string | null | undefined;
  readonly items?: readonly KeyToPath[] | null | undefined;
  readonly optional?: boolean | null | undefined;
}

interface KeyToPath {
  readonly key: string;
  readonly path: string;
  readonly mode?: number | null | undefined;
}

type Values = ReadonlyMap<string, Uint8Array>;
type Files = Map<string, ProjectedFile>;
type ObjectRequest = Pick<VolumeRequest, 'pod' | 'parts' | 'signal'>;

/** The files that a config map gives. */
export async function configMapFiles(request: ObjectRequest, source: ObjectSource, defaultMode: number): Promise<Files> {
  const { pod, parts, signal } = request;
  const { configMaps } = parts;
  if (configMaps === undefined) throw new Error('this agent has no config maps');
  const { namespace, name } = target(pod.metadata?.namespace, source);
  const read = whileGoing(() => configMaps.getConfigMap(namespace, name), signal);
  const found = await read.catch(ifOptional('configmap', namespace, name, source));
  const values = new Map<string, Uint8Array>();
  for (const [key, text] of Object.entries(found?.data ?? {})) values.set(key, Buffer.from(text));
  for (const [key, text] of Object.entries(found?.binaryData ?? {})) values.set(key, Buffer.from(text, 'base64'));
  return filesOf(values, source, defaultMode, 'configmap references non-existent config key');
}

/** The files that a secret gives. */
export async function secretFiles(request: ObjectRequest, source: ObjectSource, defaultMode: number): Promise<Files> {
  const { pod, parts, signal } = request;
  const { secrets } = parts;
  if (secrets === undefined) throw new Error('this agent has no secrets');
  const { namespace, name } = target(pod.metadata?.namespace, source);
  const found = await whileGoing(() => secrets.getSecret(namespace, name), signal).catch(
    ifOptional('secret', namespace, name, source),
  );
  const values = new Map<string, Uint8Array>();
  for (const [key, text] of Object.entries(found?.data ?? {})) values.set(key, Buffer.from(text, 'base64'));
  return filesOf(values, source, defaultMode, 'references non-existent secret key');
}

function target(namespace: string | undefined, { name }: ObjectSource): { namespace: string; name: string } {
  return { namespace: namespace ?? '', name: name ?? '' };
}

/** Undefined where the object is missing and may be; else the kubelet's words. */
function ifOptional(kind: string, namespace: string, name: string, { optional }: ObjectSource): (error: unknown) => undefined {
  return (error) => {
    if (isStatusManagerError(error, 'ERR_NOT_FOUND')) {
      if (optional) return undefined;
      throw new Error(`${kind} ${goQuote(name)} not found`, { cause: error });
    }
    if (isStatusManagerError(error, 'ERR_NOT_REGISTERED')) {
      throw new Error(`object ${goQuote(namespace)}/${goQuote(name)} not registered`, { cause: error });
    }
    throw error;
  };
}

function filesOf(values: Values, { items, optional }: ObjectSource, defaultMode: number, missing: string): Files {
  if (!items?.length) return new Map([...values].map(([key, data]) => [key, { data, mode: defaultMode }]));
  const files: Files = new Map();
  for (const { key, path, mode } of items) {
    const data = values.get(key);
    if (data !== undefined) files.set(path, { data, mode: mode ?? defaultMode });
    else if (!optional) throw new Error(`${missing}: ${key}`);
  }
  return files;
}

// Behaviour of MakePayload in pkg/volume/configmap and pkg/volume/secret, v1.36.3.

import { goQuote } from '../../api/json/go-quote.ts';
import { isStatusManagerError } from '../../base/errors.ts';
import type { ProjectedFile } from '../files/projected-files.ts';
import type { SourceValues } from './mount-objects.ts';
import type { FilesRequest } from './volume-request.ts';

const noBytes = new Uint8Array();

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

/** A file and where it is to be, made when it is asked for. Throws where a key is missing. */
export type FilesInTurn = Iterable<readonly [path: string, file: ProjectedFile]>;
type ObjectRequest = Pick<FilesRequest, 'pod' | 'objects'>;

/** The files that a config map gives. */
export async function configMapFiles(request: ObjectRequest, source: ObjectSource, defaultMode: number): Promise<FilesInTurn> {
  const { namespace, name } = target(request.pod.metadata?.namespace, source);
  const reading = request.objects.configMap(name);
  const values = await reading.catch(ifOptional('configmap', namespace, name, source));
  return filesOfObject(values, source, defaultMode, 'configmap references non-existent config key');
}

/** The files that a secret gives. */
export async function secretFiles(request: ObjectRequest, source: ObjectSource, defaultMode: number): Promise<FilesInTurn> {
  const { namespace, name } = target(request.pod.metadata?.namespace, source);
  const values = await request.objects.secret(name).catch(ifOptional('secret', namespace, name, source));
  return filesOfObject(values, source, defaultMode, 'references non-existent secret key');
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

function* filesOfObject(
  values: SourceValues | undefined,
  { items, optional }: ObjectSource,
  defaultMode: number,
  missing: string,
): Generator<readonly [string, ProjectedFile]> {
  if (!items?.length) {
    for (const key of values?.keys ?? []) yield [key, { data: values?.get(key) ?? noBytes, mode: defaultMode }];
    return;
  }
  for (const { key, path, mode } of items) {
    const data = values?.get(key);
    if (data !== undefined) yield [path, { data, mode: mode ?? defaultMode }];
    else if (!optional) throw new Error(`${missing}: ${key}`);
  }
}

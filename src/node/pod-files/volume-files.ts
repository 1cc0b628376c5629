// What the files of a volume are made from. Behaviour of SetUpAt in pkg/volume/configmap, secret, downwardapi and projected, v1.36.3.

import { goQuote } from '../../api/json/go-quote.ts';
import type { Pod } from '../../api/json/types.ts';
import type { SpecVolume } from '../../api/pod/pod-containers.ts';
import { containersOfPod } from '../../api/pod/pod-containers.ts';
import { settledAtOnce, whileGoing } from '../../base/concurrency/aborts.ts';
import { errorText, isStatusManagerError } from '../../base/errors.ts';
import type { ProjectedFile } from '../files/atomic-writer.ts';
import type { MountObjects, SourceValues } from './pod-objects.ts';
import { downwardFiles, joined, type ShownFields } from './shown-fields.ts';
import type { TokenManager } from './token-manager.ts';

/** What the files of one volume are made from. */
export interface FilesRequest {
  readonly pod: Pod;
  readonly volume: SpecVolume;
  /** Each object is read once. */
  readonly objects: MountObjects;
  /** What all volumes of the pod show of it. */
  readonly fields: ShownFields;
  /** Undefined where the agent has none. */
  readonly tokens: Pick<TokenManager, 'getToken'> | undefined;
  readonly fsGroup: number | undefined;
  readonly fsUser: number | undefined;
  readonly signal: AbortSignal;
}

/** The types of volumes that are files which the agent makes. */
export type FileVolumeType = 'configMap' | 'secret' | 'downwardAPI' | 'projected';

const fileVolumeTypes: readonly FileVolumeType[] = ['configMap', 'secret', 'downwardAPI', 'projected'];

/** Undefined for a volume of another type. */
export function fileVolumeType(volume: SpecVolume): FileVolumeType | undefined {
  return fileVolumeTypes.find((type) => volume[type] != null);
}

/** The apiserver's default. */
const usualMode = 0o644;

/** The files of a volume of this type, in the order in which a later one replaces an earlier one of the same path. */
export async function volumeFiles(type: FileVolumeType, request: FilesRequest): Promise<FilesInTurn> {
  const { configMap, secret, downwardAPI, projected } = request.volume;
  switch (type) {
    case 'configMap':
      return configMapFiles(request, configMap ?? {}, configMap?.defaultMode ?? usualMode);
    case 'secret': {
      const { secretName: name, items, optional, defaultMode } = secret ?? {};
      return secretFiles(request, { name, items, optional }, defaultMode ?? usualMode);
    }
    case 'downwardAPI':
      return downwardFiles(request, downwardAPI?.items ?? null, downwardAPI?.defaultMode ?? usualMode);
    case 'projected':
      return projectedFiles(request, projected ?? {}, projected?.defaultMode ?? usualMode);
  }
}

// Behaviour of collectData in pkg/volume/projected, v1.36.3.

type Projected = NonNullable<SpecVolume['projected']>;
type Source = NonNullable<Projected['sources']>[number];
type TokenSource = NonNullable<Source['serviceAccountToken']>;

/** The apiserver's default. */
const usualSeconds = 3600;
/** A token that belongs to one user or group is nobody else's to read. */
const ownMode = 0o600;
/** So many sources are read at once. */
const atOnce = 8;
/** So many failures are told. */
const mostTold = 10;

/** The files of all sources; of one path that of the last source. Rejects with one error that names the sources that failed. */
async function projectedFiles(request: FilesRequest, { sources }: Projected, defaultMode: number): Promise<FilesInTurn> {
  const read = (source: Source): Promise<FilesInTurn> => filesOf(request, source, defaultMode);
  const results = await settledAtOnce(sources ?? [], atOnce, read);
  request.signal.throwIfAborted();
  return inOrder(results);
}

/** Throws once all sources have had their turn. */
function* inOrder(results: readonly PromiseSettledResult<FilesInTurn>[]): Generator<readonly [string, ProjectedFile]> {
  const failed: string[] = [];
  for (const result of results) {
    try {
      if (result.status === 'rejected') throw result.reason;
      yield* result.value;
    } catch (error) {
      if (failed.length <= mostTold) failed.push(errorText(error));
    }
  }
  if (failed.length > mostTold) failed[mostTold] = 'and more';
  if (failed.length > 0) throw new Error(joined(failed));
}

async function filesOf(request: FilesRequest, source: Source, defaultMode: number): Promise<FilesInTurn> {
  if (source.secret) return secretFiles(request, source.secret, defaultMode);
  if (source.configMap) return configMapFiles(request, source.configMap, defaultMode);
  if (source.downwardAPI) return downwardFiles(request, source.downwardAPI.items, defaultMode);
  if (source.serviceAccountToken) return tokenFile(request, source.serviceAccountToken, defaultMode);
  const kind = Object.entries(source).find(([, value]) => value != null)?.[0] ?? 'nothing';
  throw new Error(`projected source ${kind} is not supported by this agent`);
}

async function tokenFile(request: FilesRequest, source: TokenSource, defaultMode: number): Promise<Map<string, ProjectedFile>> {
  const { pod, tokens, fsGroup, fsUser, signal } = request;
  if (tokens === undefined) throw new Error('this agent has no service account tokens');
  const { audience, expirationSeconds, path } = source;
  const asked = {
    serviceAccountName: pod.spec?.serviceAccountName ?? '',
    audience: audience ?? '',
    expirationSeconds: expirationSeconds ?? usualSeconds,
  };
  const token = await whileGoing(() => tokens.getToken(pod, asked, signal), signal);
  const mode = fsUser !== undefined || fsGroup !== undefined ? ownMode : defaultMode;
  return new Map([[path, { data: Buffer.from(token.token), mode, fsUser }]]);
}

// Behaviour of MakePayload in pkg/volume/configmap and pkg/volume/secret, v1.36.3.

const noBytes = new Uint8Array();

/** Where in a config map or a secret the files of a volume come from. */
interface ObjectSource {
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

async function configMapFiles(request: ObjectRequest, source: ObjectSource, defaultMode: number): Promise<FilesInTurn> {
  const { namespace, name } = target(request.pod.metadata?.namespace, source);
  const reading = request.objects.configMap(name);
  const values = await reading.catch(ifOptional('configmap', namespace, name, source));
  return filesOfObject(values, source, defaultMode, 'configmap references non-existent config key');
}

async function secretFiles(request: ObjectRequest, source: ObjectSource, defaultMode: number): Promise<FilesInTurn> {
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

// Behaviour of FsUserFrom and GetPodVolumeNames in pkg/volume/util, v1.36.3.

/** The user that every container runs as; undefined where one does not say, or two differ. */
export function fsUserOf(pod: Pod): number | undefined {
  const podUser = pod.spec?.securityContext?.runAsUser ?? undefined;
  const users = new Set(containersOfPod(pod).map(({ securityContext }) => securityContext?.runAsUser ?? podUser));
  return users.size === 1 ? [...users][0] : undefined;
}

/** The names of the volumes that a container uses. */
export function usedVolumes(pod: Pod): ReadonlySet<string> {
  return new Set(
    containersOfPod(pod).flatMap(({ volumeMounts, volumeDevices }) =>
      [...(volumeMounts ?? []), ...(volumeDevices ?? [])].map(({ name }) => name),
    ),
  );
}

// Behaviour of collectData in pkg/volume/projected, v1.36.3.

import { settledAtOnce, whileGoing } from '../../base/concurrency/aborts.ts';
import { errorText } from '../../base/errors.ts';
import type { ProjectedFile } from '../files/projected-files.ts';
import { downwardFiles, joined } from './downward-api.ts';
import type { SpecVolume } from './pod-volumes.ts';
import { configMapFiles, type FilesInTurn, secretFiles } from './source-objects.ts';
import type { FilesRequest } from './volume-request.ts';

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
export async function projectedFiles(request: FilesRequest, { sources }: Projected, defaultMode: number): Promise<FilesInTurn> {
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
  const { pod, parts, fsGroup, fsUser, signal } = request;
  const { tokens } = parts;
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

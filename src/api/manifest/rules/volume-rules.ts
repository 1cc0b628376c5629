// Behaviour of pkg/apis/core/validation ValidateVolumes, v1.36.3. What only an apiserver can give is refused by api-references.ts.
import { quantityInNano } from '../../quantity/quantity-value.ts';
import { check, refuse } from '../text/invalid-manifest.ts';
import type { Volume } from '../types/pod-parts.ts';
import { checkDiskVolume } from './disk-volume-rules.ts';
import { checkFieldRef, checkResourceFieldRef, volumeFieldPaths } from './field-ref-rules.ts';
import {
  checkDnsLabel,
  checkFileMode,
  checkFilePath,
  checkNoBacksteps,
  checkOneOf,
  checkPresent,
  checkUnique,
} from './text-rules.ts';

type DownwardAPIFile = NonNullable<NonNullable<Volume['downwardAPI']>['items']>[number];
type Projected = NonNullable<Volume['projected']>;
type Projection = NonNullable<Projected['sources']>[number];

const hostPathTypes = ['', 'DirectoryOrCreate', 'Directory', 'FileOrCreate', 'File', 'Socket', 'CharDevice', 'BlockDevice'];
export const pullPolicies = ['Always', 'IfNotPresent', 'Never'];

/** Returns the volumes by name. */
export function checkVolumes(volumes: readonly Volume[]): ReadonlyMap<string, Volume> {
  const names = new Set<string>();
  for (const [index, volume] of volumes.entries()) {
    const path = `spec.volumes[${index}]`;
    checkDnsLabel(`${path}.name`, volume.name);
    checkUnique(`${path}.name`, names, volume.name);
    const sources = Object.keys(volume).filter((key) => key !== 'name');
    check(sources.length === 1, path, 'of exactly one volume type', sources.join(', '));
    checkSource(path, volume);
  }
  return new Map(volumes.map((volume) => [volume.name, volume]));
}

function checkSource(path: string, volume: Volume): void {
  const { emptyDir, hostPath, gitRepo, downwardAPI, projected, image, secret, configMap } = volume;
  if (emptyDir?.sizeLimit !== undefined) {
    check(quantityInNano(emptyDir.sizeLimit) >= 0n, `${path}.emptyDir.sizeLimit`, 'at least 0', emptyDir.sizeLimit);
  }
  if (hostPath) {
    checkPresent(`${path}.hostPath.path`, hostPath.path);
    checkNoBacksteps(`${path}.hostPath.path`, hostPath.path);
    checkOneOf(`${path}.hostPath.type`, hostPath.type ?? '', hostPathTypes);
  }
  if (gitRepo) {
    checkPresent(`${path}.gitRepo.repository`, gitRepo.repository);
    checkNoBacksteps(`${path}.gitRepo.directory`, gitRepo.directory ?? '');
    check(!gitRepo.directory?.startsWith('/'), `${path}.gitRepo.directory`, 'a relative path', gitRepo.directory);
  }
  if (downwardAPI) {
    checkFileMode(`${path}.downwardAPI.defaultMode`, downwardAPI.defaultMode);
    for (const [index, file] of (downwardAPI.items ?? []).entries())
      checkDownwardFile(`${path}.downwardAPI.items[${index}]`, file);
  }
  if (projected) checkProjected(`${path}.projected`, projected);
  if (image) checkOneOf(`${path}.image.pullPolicy`, image.pullPolicy, pullPolicies);
  for (const [name, files] of Object.entries({ secret, configMap }))
    checkFileMode(`${path}.${name}.defaultMode`, files?.defaultMode);
  checkDiskVolume(path, volume);
}

function checkDownwardFile(path: string, file: DownwardAPIFile): void {
  checkFilePath(`${path}.path`, file.path);
  checkFileMode(`${path}.mode`, file.mode);
  if (file.fieldRef && file.resourceFieldRef) refuse(path, 'one of fieldRef and resourceFieldRef', 'both');
  if (file.fieldRef) checkFieldRef(`${path}.fieldRef`, file.fieldRef, volumeFieldPaths);
  else if (file.resourceFieldRef) checkResourceFieldRef(`${path}.resourceFieldRef`, file.resourceFieldRef, true);
  else refuse(path, 'one of fieldRef and resourceFieldRef', undefined);
}

/** Only files of the downward API need no apiserver; the sources that do are refused as references. */
function checkProjected(path: string, projected: Projected): void {
  checkFileMode(`${path}.defaultMode`, projected.defaultMode);
  const paths = new Set<string>();
  for (const [index, source] of (projected.sources ?? []).entries()) {
    const place = `${path}.sources[${index}]`;
    const kinds = Object.keys(source);
    check(kinds.length <= 1, place, 'of one volume type', kinds.join(', '));
    checkDownwardFiles(place, source, paths);
  }
}

function checkDownwardFiles(place: string, { downwardAPI }: Projection, paths: Set<string>): void {
  for (const [index, file] of (downwardAPI?.items ?? []).entries()) {
    checkDownwardFile(`${place}.downwardAPI.items[${index}]`, file);
    checkUnique(`${place}.downwardAPI.items[${index}].path`, paths, file.path);
  }
}

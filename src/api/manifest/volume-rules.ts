// Behaviour of pkg/apis/core/validation ValidateVolumes, v1.36.3. What only an apiserver can give is refused by api-references.ts.
import { quantityInNano } from '../quantity/quantity-arithmetic.ts';
import { checkFieldRef, checkResourceFieldRef, volumeFieldPaths } from './field-ref-rules.ts';
import { check, refuse } from './invalid-manifest.ts';
import type { Volume } from './pod-types.ts';
import {
  checkDnsLabel,
  checkFileMode,
  checkFilePath,
  checkNoBacksteps,
  checkOneOf,
  checkPresent,
  checkRange,
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

// Behaviour of pkg/apis/core/validation for volumes of disks and file servers, v1.36.3.

type Source = { readonly [field: string]: unknown };

/** What a volume of each sort has to say. */
const requiredFields: { readonly [K in keyof Volume]?: readonly string[] } = {
  gcePersistentDisk: ['pdName'],
  awsElasticBlockStore: ['volumeID'],
  nfs: ['server', 'path'],
  iscsi: ['targetPortal', 'iqn'],
  rbd: ['monitors', 'image'],
  cinder: ['volumeID'],
  cephfs: ['monitors'],
  quobyte: ['registry', 'volume'],
  flexVolume: ['driver'],
  vsphereVolume: ['volumePath'],
  photonPersistentDisk: ['pdID'],
  portworxVolume: ['volumeID'],
  azureDisk: ['diskName', 'diskURI'],
  scaleIO: ['gateway', 'system', 'volumeName'],
  storageos: ['volumeName'],
};
const initiators = [
  /^iqn(?:.*iqn)?\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+$/s,
  /^eui.[A-Za-z0-9]{16}$/,
  /^naa.[A-Za-z0-9]{32}$/,
];
const longestInitiator = 10_000;

function checkDiskVolume(path: string, volume: Volume): void {
  for (const [kind, fields] of Object.entries(requiredFields)) {
    const source = volume[kind as keyof Volume] as Source | undefined;
    if (source === undefined) continue;
    for (const field of fields) {
      checkPresent(`${path}.${kind}.${field}`, source[field]);
      if (Array.isArray(source[field]))
        check(source[field].length > 0, `${path}.${kind}.${field}`, 'a list that is not empty', source[field]);
    }
  }
  checkRange(`${path}.gcePersistentDisk.partition`, volume.gcePersistentDisk?.partition, 0, 255);
  checkRange(`${path}.awsElasticBlockStore.partition`, volume.awsElasticBlockStore?.partition, 0, 255);
  if (volume.nfs) check(volume.nfs.path.startsWith('/'), `${path}.nfs.path`, 'an absolute path', volume.nfs.path);
  checkIscsi(path, volume);
  checkFibreChannel(path, volume);
  checkFlocker(path, volume);
  checkAzureDisk(path, volume);
  checkOthers(path, volume);
}

function checkIscsi(path: string, { iscsi }: Volume): void {
  if (!iscsi) return;
  checkInitiator(`${path}.iscsi.iqn`, iscsi.iqn);
  checkRange(`${path}.iscsi.lun`, iscsi.lun, 0, 255);
  if (iscsi.chapAuthDiscovery || iscsi.chapAuthSession) checkPresent(`${path}.iscsi.secretRef`, iscsi.secretRef);
  if (iscsi.initiatorName !== undefined) checkInitiator(`${path}.iscsi.initiatorName`, iscsi.initiatorName);
}

function checkInitiator(path: string, name: string): void {
  const holds = name.length <= longestInitiator && initiators.some((form) => form.test(name));
  check(holds, path, 'a name of the form iqn, eui or naa', name);
}

function checkFibreChannel(path: string, { fc }: Volume): void {
  if (!fc) return;
  const [targets, wwids] = [fc.targetWWNs?.length ?? 0, fc.wwids?.length ?? 0];
  check(targets > 0 !== wwids > 0, `${path}.fc`, 'with one of targetWWNs and wwids', targets + wwids);
  if (targets > 0) {
    check(fc.lun !== undefined, `${path}.fc.lun`, 'given', fc.lun);
    checkRange(`${path}.fc.lun`, fc.lun, 0, 255);
  }
}

function checkFlocker(path: string, { flocker }: Volume): void {
  if (!flocker) return;
  const { datasetName = '', datasetUUID = '' } = flocker;
  check((datasetName === '') !== (datasetUUID === ''), `${path}.flocker`, 'with one of datasetName and datasetUUID', datasetName);
  check(!datasetName.includes('/'), `${path}.flocker.datasetName`, 'without "/"', datasetName);
}

function checkAzureDisk(path: string, { azureDisk }: Volume): void {
  if (!azureDisk) return;
  const { cachingMode, kind, diskURI } = azureDisk;
  checkOneOf(`${path}.azureDisk.cachingMode`, cachingMode, ['None', 'ReadOnly', 'ReadWrite']);
  checkOneOf(`${path}.azureDisk.kind`, kind, ['Shared', 'Dedicated', 'Managed']);
  const start = kind === 'Managed' ? '/subscriptions/' : 'https://';
  check(diskURI.startsWith(start), `${path}.azureDisk.diskURI`, `a text that begins with ${start}`, diskURI);
}

function checkOthers(path: string, { quobyte, flexVolume, storageos, cinder }: Volume): void {
  if (quobyte) {
    check((quobyte.tenant?.length ?? 0) < 65, `${path}.quobyte.tenant`, 'at most 64 characters long', quobyte.tenant);
    const pairs = quobyte.registry.split(',').every((pair) => /^(?:[^:[\]]*|\[[^[\]]*\]):[^:[\]]*$/.test(pair));
    check(pairs, `${path}.quobyte.registry`, 'pairs of host:port between commas', quobyte.registry);
  }
  for (const option of Object.keys(flexVolume?.options ?? {})) {
    const namespace = `.${option.split('/', 1)[0]?.toLowerCase()}`;
    if (/\.(?:kubernetes|k8s)\.io$/.test(namespace))
      refuse(`${path}.flexVolume.options[${option}]`, 'absent: the name is reserved', option);
  }
  if (storageos) {
    checkDnsLabel(`${path}.storageos.volumeName`, storageos.volumeName ?? '');
    if (storageos.volumeNamespace !== undefined) checkDnsLabel(`${path}.storageos.volumeNamespace`, storageos.volumeNamespace);
    if (storageos.secretRef) checkPresent(`${path}.storageos.secretRef.name`, storageos.secretRef.name);
  }
  if (cinder?.secretRef) checkPresent(`${path}.cinder.secretRef.name`, cinder.secretRef.name);
}

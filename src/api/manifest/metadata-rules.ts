// Behaviour of k8s.io/apimachinery/pkg/api/validation objectmeta.go and pkg/apis/core/validation, v1.36.3.
import type { WirePod } from '../json/types.ts';
import { check, ManifestFault, refuse } from './invalid-manifest.ts';
import { containersOf, type ManifestPodSpec } from './pod-types.ts';
import { readJson } from './read-manifest.ts';
import { checkTolerations, type ManifestToleration } from './scheduling-rules.ts';
import {
  checkDescendingPath,
  checkDnsLabel,
  checkDnsSubdomain,
  checkLabels,
  checkOneOf,
  checkQualifiedName,
} from './text-rules.ts';
import { typedValue } from './typed-value.ts';

type ObjectMeta = NonNullable<WirePod['metadata']>;

const standardFinalizers = ['kubernetes', 'orphan', 'foregroundDeletion'];
const annotationsLimit = 256 * 1024;

export function checkMetadata(metadata: ObjectMeta): void {
  const { generateName, generation = 0 } = metadata;
  if (generateName !== undefined) {
    checkDnsSubdomain('metadata.generateName', generateName.length > 1 ? generateName.replace(/.-$/, 'a') : generateName);
  }
  checkDnsSubdomain('metadata.name', metadata.name ?? '');
  checkDnsLabel('metadata.namespace', metadata.namespace ?? '');
  check(generation >= 0, 'metadata.generation', 'at least 0', generation);
  checkLabels('metadata.labels', metadata.labels);
  checkAnnotations(metadata.annotations ?? {});
  checkOwners(metadata.ownerReferences ?? []);
  checkFinalizers(metadata.finalizers ?? []);
  checkManagedFields(metadata.managedFields ?? []);
}

function checkAnnotations(annotations: { readonly [key: string]: string }): void {
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) {
    checkQualifiedName(`the key metadata.annotations[${key}]`, key.toLowerCase());
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  check(size <= annotationsLimit, 'metadata.annotations', `at most ${annotationsLimit} bytes in all`, size);
}

function checkOwners(owners: NonNullable<ObjectMeta['ownerReferences']>): void {
  for (const [index, { apiVersion, kind, name, uid }] of owners.entries()) {
    const path = `metadata.ownerReferences[${index}]`;
    check(/^(?:[^/]*\/)?[^/]+$/.test(apiVersion), `${path}.apiVersion`, 'a group and a version', apiVersion);
    check(kind !== '', `${path}.kind`, 'given', kind);
    check(name !== '', `${path}.name`, 'given', name);
    check(uid !== '', `${path}.uid`, 'given', uid);
    if (apiVersion === 'v1' && kind === 'Event') refuse(path, 'no event', kind);
  }
  const controllers = owners.filter(({ controller }) => controller === true);
  check(controllers.length <= 1, 'metadata.ownerReferences', 'free of a second controller', controllers.length);
}

function checkFinalizers(finalizers: readonly string[]): void {
  for (const [index, finalizer] of finalizers.entries()) {
    const path = `metadata.finalizers[${index}]`;
    checkQualifiedName(path, finalizer);
    const isKnown = finalizer.includes('/') || standardFinalizers.includes(finalizer);
    check(isKnown, path, `a name with a prefix, or one of ${standardFinalizers.join(', ')}`, finalizer);
  }
  const both = finalizers.includes('orphan') && finalizers.includes('foregroundDeletion');
  check(!both, 'metadata.finalizers', 'without one of orphan and foregroundDeletion', finalizers);
}

function checkManagedFields(entries: NonNullable<ObjectMeta['managedFields']>): void {
  for (const [index, { operation, fieldsType, manager = '', subresource = '' }] of entries.entries()) {
    const path = `metadata.managedFields[${index}]`;
    checkOneOf(`${path}.operation`, operation, ['Apply', 'Update']);
    if (fieldsType !== undefined) checkOneOf(`${path}.fieldsType`, fieldsType, ['FieldsV1']);
    check(
      Buffer.byteLength(manager) <= 128 && !/[\p{C}\p{Zl}\p{Zp}]/u.test(manager),
      `${path}.manager`,
      'at most 128 printable characters',
      manager,
    );
    check(Buffer.byteLength(subresource) <= 256, `${path}.subresource`, 'at most 256 bytes', subresource);
  }
}

// Behaviour of pkg/apis/core/validation ValidatePodSpecificAnnotations, v1.36.3.

interface Annotations {
  readonly [key: string]: string;
}

interface Profile {
  readonly type: string;
  readonly localhostProfile?: string;
}

const tolerationsKey = 'scheduler.alpha.kubernetes.io/tolerations';
const deletionCostKey = 'controller.kubernetes.io/pod-deletion-cost';
const seccompPodKey = 'seccomp.security.alpha.kubernetes.io/pod';
const seccompContainerPrefix = 'container.seccomp.security.alpha.kubernetes.io/';
const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/';
const localhost = 'localhost/';

export function checkPodAnnotations(annotations: Annotations, spec: ManifestPodSpec): void {
  const { [tolerationsKey]: tolerations, [deletionCostKey]: deletionCost } = annotations;
  if (tolerations) checkTolerationsAnnotation(tolerations);
  if (deletionCost !== undefined) {
    const holds =
      /^(?:0|-?0*[1-9][0-9]*|-0+)$/.test(deletionCost) && !/^0./.test(deletionCost) && Math.abs(Number(deletionCost)) <= 2 ** 31;
    check(holds && Number(deletionCost) !== 2 ** 31, annotationPath(deletionCostKey), 'an integer of 32 bits', deletionCost);
  }
  const names = new Set(containersOf(spec).map(({ container }) => container.name));
  for (const [key, value] of Object.entries(annotations)) {
    if (key === seccompPodKey || key.startsWith(seccompContainerPrefix)) checkSeccomp(key, value);
    if (key.startsWith(appArmorPrefix)) checkAppArmor(key, value, names);
  }
  checkAgreement(annotations, spec);
}

function annotationPath(key: string): string {
  return `metadata.annotations[${key}]`;
}

function checkTolerationsAnnotation(text: string): void {
  const path = annotationPath(tolerationsKey);
  try {
    checkTolerations(path, typedValue('[]#Toleration', readJson(text), path) as unknown as ManifestToleration[]);
  } catch (cause) {
    throw new ManifestFault(path, `a list of tolerations in JSON (${(cause as Error).message})`, text, { cause });
  }
}

function checkSeccomp(key: string, value: string): void {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(value)) return;
  check(value.startsWith(localhost), annotationPath(key), 'a seccomp profile', value);
  checkDescendingPath(annotationPath(key), value.slice(localhost.length));
}

function checkAppArmor(key: string, value: string, containerNames: ReadonlySet<string>): void {
  const name = key.slice(appArmorPrefix.length);
  check(containerNames.has(name), annotationPath(key), 'for a container of the pod', name);
  const holds = ['', 'runtime/default', 'unconfined'].includes(value) || value.startsWith(localhost);
  check(holds, annotationPath(key), 'an AppArmor profile', value);
}

/** Where an annotation and a field name a profile of one container, they name the same. */
function checkAgreement(annotations: Annotations, spec: ManifestPodSpec): void {
  const { seccompProfile, appArmorProfile } = spec.securityContext ?? {};
  checkMatch(annotations, seccompPodKey, seccompProfile, ['runtime/default', 'docker/default']);
  for (const { container } of containersOf(spec)) {
    const { securityContext } = container;
    checkMatch(annotations, seccompContainerPrefix + container.name, securityContext?.seccompProfile, [
      'runtime/default',
      'docker/default',
    ]);
    if (spec.os?.name === 'windows') continue;
    checkMatch(annotations, appArmorPrefix + container.name, securityContext?.appArmorProfile ?? appArmorProfile, [
      'runtime/default',
    ]);
  }
}

function checkMatch(annotations: Annotations, key: string, profile: Profile | undefined, defaults: readonly string[]): void {
  if (profile === undefined || !Object.hasOwn(annotations, key)) return;
  const allowed = { Unconfined: ['unconfined'], RuntimeDefault: defaults, Localhost: [localhost + profile.localhostProfile] };
  const values = allowed[profile.type as keyof typeof allowed] ?? [];
  check(
    values.includes(annotations[key] ?? ''),
    annotationPath(key),
    "the profile of the container's security context",
    annotations[key],
  );
}

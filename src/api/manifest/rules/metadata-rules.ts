// Behaviour of k8s.io/apimachinery/pkg/api/validation objectmeta.go and pkg/apis/core/validation, v1.36.3.
import type { WirePod } from '../../json/types.ts';
import { check, refuse } from '../text/invalid-manifest.ts';
import { checkDnsLabel, checkDnsSubdomain, checkLabels, checkOneOf, checkQualifiedName } from './text-rules.ts';

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

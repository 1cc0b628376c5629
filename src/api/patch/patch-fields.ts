import { nullIsAbsent } from '../json/json.ts';
import type { PatchField, PatchSchema } from './pod-patch-schema.ts';

/** An object whose members are merged, but for those named here. */
export function struct(fields: Readonly<Record<string, PatchField>>): PatchSchema {
  return { fields, isAbsent: nullIsAbsent };
}

/** A list whose elements are matched by one of their members. */
export function mergeBy(mergeKey: string): PatchField {
  return { strategy: 'merge', mergeKey };
}

/** The metadata of every kind. */
export const metadataField: PatchField = {
  members: struct({ ownerReferences: mergeBy('uid'), finalizers: { strategy: 'merge' } }),
};

import { mergeBy, type PatchField, struct } from './pod-patch-schema.ts';

/** The metadata of every kind. */
export const metadataField: PatchField = {
  members: struct({ ownerReferences: mergeBy('uid'), finalizers: { strategy: 'merge' } }),
};

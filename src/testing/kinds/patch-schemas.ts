// Facts of the published patch strategies of Kubernetes 1.36, for the kinds beside pods.
import type { PatchField, PatchSchema } from '../../patch/pod-patch-schema.ts';
import { nullIsAbsent } from '../../wire/json.ts';

function struct(fields: Readonly<Record<string, PatchField>>): PatchSchema {
  return { fields, isAbsent: nullIsAbsent };
}

function mergeBy(mergeKey: string): PatchField {
  return { strategy: 'merge', mergeKey };
}

const metadata: PatchField = { members: struct({ ownerReferences: mergeBy('uid'), finalizers: { strategy: 'merge' } }) };

/** A kind whose own lists are replaced whole. */
export const plainSchema = struct({ metadata });

export const nodeSchema = struct({
  metadata,
  spec: { members: struct({ podCIDRs: { strategy: 'merge' } }) },
  status: { members: struct({ conditions: mergeBy('type'), addresses: mergeBy('type') }) },
});

export const serviceSchema = struct({
  metadata,
  spec: { members: struct({ ports: mergeBy('port') }) },
  status: { members: struct({ conditions: mergeBy('type') }) },
});

export const serviceAccountSchema = struct({ metadata, secrets: mergeBy('name'), imagePullSecrets: mergeBy('name') });

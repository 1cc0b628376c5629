// Facts of the v1 Node's published patch strategies, Kubernetes 1.36.
import { metadataField } from './patch-fields.ts';
import { mergeBy, type PatchSchema, struct } from './pod-patch-schema.ts';

export const nodeSchema: PatchSchema = struct({
  metadata: metadataField,
  spec: { members: struct({ podCIDRs: { strategy: 'merge' } }) },
  status: { members: struct({ conditions: mergeBy('type'), addresses: mergeBy('type') }) },
});

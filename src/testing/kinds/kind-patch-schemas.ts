// Facts of the published patch strategies of Kubernetes 1.36, for the kinds beside pods and nodes.
import { mergeBy, metadataPatch as metadata, struct } from '../../api/patch/patch-schemas.ts';

/** A kind whose own lists are replaced whole. */
export const plainSchema = struct({ metadata });

export const serviceSchema = struct({
  metadata,
  spec: { members: struct({ ports: mergeBy('port') }) },
  status: { members: struct({ conditions: mergeBy('type') }) },
});

export const serviceAccountSchema = struct({ metadata, secrets: mergeBy('name'), imagePullSecrets: mergeBy('name') });

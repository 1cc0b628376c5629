// Facts of the published patch strategies of Kubernetes 1.36, for the kinds beside pods and nodes.
import { metadataField as metadata } from '../../api/patch/patch-fields.ts';
import { mergeBy, struct } from '../../api/patch/pod-patch-schema.ts';

/** A kind whose own lists are replaced whole. */
export const plainSchema = struct({ metadata });

export const serviceSchema = struct({
  metadata,
  spec: { members: struct({ ports: mergeBy('port') }) },
  status: { members: struct({ conditions: mergeBy('type') }) },
});

export const serviceAccountSchema = struct({ metadata, secrets: mergeBy('name'), imagePullSecrets: mergeBy('name') });

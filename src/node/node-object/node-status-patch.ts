// Behaviour of k8s.io/component-helpers/node/util PatchNodeStatus, v0.36.3.

import { isJsonObject, nullIsAbsent, wireEqual } from '../../api/json/json.ts';
import type { Json, JsonObject, WireNode } from '../../api/json/types.ts';
import { nodeSchema } from '../../api/patch/patch-schemas.ts';
import { createStrategicMergePatch } from '../../api/patch/strategic-merge-diff.ts';

/** The strategic merge patch of the status subresource that makes `next` of `old`: of labels and status. It names the uid. */
export function nodeStatusPatch(old: WireNode, next: WireNode): JsonObject {
  const before = old.status?.addresses ?? [];
  const after = next.status?.addresses ?? [];
  // the published merge key of addresses is their type, of which a node may have two: they are replaced whole
  const replaces = before.length > 0 && !wireEqual(before as unknown as Json, after as unknown as Json, nullIsAbsent);
  const patch = createStrategicMergePatch(
    patchable(old),
    patchable(replaces ? { ...next, status: { ...next.status, addresses: before } } : next),
    nodeSchema,
  );
  const { uid } = old.metadata ?? {};
  const metadata = { ...(isJsonObject(patch.metadata) ? patch.metadata : {}), ...(uid === undefined ? {} : { uid }) };
  const status = isJsonObject(patch.status) ? patch.status : {};
  if (replaces) status.addresses = [...(after as unknown as Json[]), { $patch: 'replace' }];
  return { metadata, status };
}

function patchable({ metadata, status }: WireNode): JsonObject {
  return { metadata: { labels: metadata?.labels ?? {} }, status: (status ?? {}) as unknown as Json };
}

// Behaviour of asCSIAccessModeV1 and asSingleNodeMultiWriterCapableCSIAccessModeV1 in pkg/volume/csi/csi_client.go, v1.36.3.

import type { CsiAccessMode, CsiNodeCapability } from './csi-node.ts';

const plain: Readonly<Record<string, CsiAccessMode>> = {
  ReadWriteOnce: 'SINGLE_NODE_WRITER',
  ReadOnlyMany: 'MULTI_NODE_READER_ONLY',
  ReadWriteMany: 'MULTI_NODE_MULTI_WRITER',
  ReadWriteOncePod: 'SINGLE_NODE_WRITER',
};
/** For a driver that tells the writers of one node apart. */
const ofOneNode: Readonly<Record<string, CsiAccessMode>> = {
  ReadWriteOnce: 'SINGLE_NODE_MULTI_WRITER',
  ReadWriteOncePod: 'SINGLE_NODE_SINGLE_WRITER',
};

/** The first of a PersistentVolume's modes, as its driver knows it. */
export function csiAccessMode(
  modes: readonly string[] | null | undefined,
  capabilities: ReadonlySet<CsiNodeCapability>,
): CsiAccessMode {
  const mode = modes?.[0] ?? 'ReadWriteOnce';
  const own = capabilities.has('SINGLE_NODE_MULTI_WRITER') && Object.hasOwn(ofOneNode, mode) ? ofOneNode[mode] : undefined;
  const found = own ?? (Object.hasOwn(plain, mode) ? plain[mode] : undefined);
  if (found === undefined) throw new Error(`the access mode ${mode} of the PersistentVolume is not known`);
  return found;
}

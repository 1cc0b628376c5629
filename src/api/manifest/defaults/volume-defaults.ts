// Behaviour of pkg/apis/core/v1/defaults.go for volumes, v1.36.3.
import type { Volume } from '../types/pod-parts.ts';
import { defaultPullPolicy } from './image-tag.ts';

const fileMode = 0o644;

export function setVolumeDefaults(volume: Volume): void {
  if (Object.keys(volume).every((key) => key === 'name')) volume.emptyDir = {};
  const { image, hostPath, secret, configMap, downwardAPI, projected } = volume;
  if (image) image.pullPolicy ??= defaultPullPolicy(image.reference ?? '');
  if (hostPath) hostPath.type ??= '';
  for (const files of [secret, configMap, downwardAPI, projected]) if (files) files.defaultMode ??= fileMode;
  const files = [downwardAPI, ...(projected?.sources ?? []).map((source) => source.downwardAPI)];
  for (const { fieldRef } of files.flatMap((source) => source?.items ?? [])) if (fieldRef) fieldRef.apiVersion ??= 'v1';
  for (const { serviceAccountToken } of projected?.sources ?? []) {
    if (serviceAccountToken) serviceAccountToken.expirationSeconds ??= 3600;
  }
  setDiskDefaults(volume);
}

function setDiskDefaults({ iscsi, rbd, azureDisk, scaleIO }: Volume): void {
  if (iscsi) iscsi.iscsiInterface ??= 'default';
  if (rbd) {
    rbd.pool ??= 'rbd';
    rbd.user ??= 'admin';
    rbd.keyring ??= '/etc/ceph/keyring';
  }
  if (azureDisk) {
    azureDisk.cachingMode ??= 'ReadWrite';
    azureDisk.fsType ??= 'ext4';
    azureDisk.readOnly ??= false;
    azureDisk.kind ??= 'Shared';
  }
  if (scaleIO) {
    scaleIO.storageMode ??= 'ThinProvisioned';
    scaleIO.fsType ??= 'xfs';
  }
}

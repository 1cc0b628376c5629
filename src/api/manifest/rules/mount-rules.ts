// Behaviour of pkg/apis/core/validation for volume mounts and devices, v1.36.3.
import { check, refuse } from '../text/invalid-manifest.ts';
import type { Container, PodSpec, Volume } from '../types/pod-parts.ts';
import {
  checkDescendingPath,
  checkNoBacksteps,
  checkOneOf,
  checkOptionalOneOf,
  checkPresent,
  checkUnique,
} from './text-rules.ts';

type Mount = NonNullable<Container['volumeMounts']>[number];

export function checkMounts(path: string, container: Container, volumes: ReadonlyMap<string, Volume>, spec: PodSpec): void {
  const places = new Set<string>();
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const place = `${path}.volumeMounts[${index}]`;
    checkPresent(`${place}.mountPath`, mount.mountPath);
    check(volumes.has(mount.name), `${place}.name`, 'the name of a volume', mount.name);
    checkUnique(`${place}.mountPath`, places, mount.mountPath);
    if (mount.subPath !== undefined) checkDescendingPath(`${place}.subPath`, mount.subPath);
    if (mount.subPathExpr !== undefined) {
      check(mount.subPath === undefined, `${place}.subPathExpr`, 'absent beside a subPath', mount.subPathExpr);
      checkDescendingPath(`${place}.subPathExpr`, mount.subPathExpr);
    }
    checkPropagation(place, mount, container);
    checkRecursiveReadOnly(place, mount);
  }
  checkDevices(`${path}.volumeDevices`, container, volumes, spec);
}

function checkPropagation(path: string, { mountPropagation }: Mount, { securityContext }: Container): void {
  checkOptionalOneOf(`${path}.mountPropagation`, mountPropagation, ['Bidirectional', 'HostToContainer', 'None']);
  const mayPropagate = mountPropagation !== 'Bidirectional' || securityContext?.privileged === true;
  check(
    mayPropagate,
    `${path}.mountPropagation`,
    'another one: only privileged containers may propagate to the node',
    mountPropagation,
  );
}

function checkRecursiveReadOnly(path: string, mount: Mount): void {
  const { recursiveReadOnly, readOnly, mountPropagation = 'None' } = mount;
  checkOptionalOneOf(`${path}.recursiveReadOnly`, recursiveReadOnly, ['Disabled', 'IfPossible', 'Enabled']);
  if (recursiveReadOnly === undefined || recursiveReadOnly === 'Disabled') return;
  check(readOnly === true, `${path}.recursiveReadOnly`, 'absent where readOnly is not true', recursiveReadOnly);
  checkOneOf(`${path}.mountPropagation`, mountPropagation, ['None']);
}

/** Only claims are devices, and a static pod may have none: no device passes. */
function checkDevices(path: string, container: Container, volumes: ReadonlyMap<string, Volume>, spec: PodSpec): void {
  for (const [index, { name, devicePath }] of (container.volumeDevices ?? []).entries()) {
    const volume = volumes.get(name);
    const isClaim = volume?.persistentVolumeClaim !== undefined || volume?.ephemeral !== undefined;
    check(isClaim, `${path}[${index}].name`, 'the name of a volume that is a claim', name);
    checkPresent(`${path}[${index}].devicePath`, devicePath);
    checkNoBacksteps(`${path}[${index}].devicePath`, devicePath);
    if (spec.hostUsers === false) refuse(path, 'absent where hostUsers is false', name);
  }
}

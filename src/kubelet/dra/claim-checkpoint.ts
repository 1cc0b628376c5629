// The format of pkg/kubelet/cm/dra/state/checkpoint.go, v1.36.3.

import { crc32 } from 'node:zlib';
import { isJsonObject } from '../../api/json/json.ts';
import { errorText, ifCode } from '../../base/errors.ts';
import { mostCheckpointBytes } from '../../node/files/checkpoint-writer.ts';
import { readAtMost } from '../../node/files/small-file.ts';
import type { DraDevice } from './dra-driver.ts';

/** What the node has of one claim: drivers were asked to make it ready, or are about to be. */
export interface KeptClaim {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The pods of this node that it was made ready for. */
  readonly podUIDs: ReadonlySet<string>;
  /** What each driver that the claim has devices of has answered. */
  readonly drivers: ReadonlyMap<string, readonly DraDevice[]>;
}

const kind = 'DRACheckpoint';
const apiVersion = 'checkpoint.dra.kubelet.k8s.io/v1';

/** Nothing, where there is no such file. Rejects for one that is not whole: nobody knows then what is in use. */
export async function readClaimCheckpoint(path: string): Promise<readonly KeptClaim[]> {
  const text = await readAtMost(path, mostCheckpointBytes).catch(ifCode('ENOENT'));
  if (text === undefined) return [];
  try {
    return claimsIn(text);
  } catch (cause) {
    throw new Error(`${path} is no checkpoint of resource claims that is whole: ${errorText(cause)}`, { cause });
  }
}

/** The text of the file. */
export function claimCheckpointText(claims: Iterable<KeptClaim>): string {
  const list = Array.from(claims, ({ uid, name, namespace, podUIDs, drivers }) => ({
    ClaimUID: uid,
    ClaimName: name,
    Namespace: namespace,
    PodUIDs: Object.fromEntries(Array.from(podUIDs, (podUID) => [podUID, {}])),
    DriverState: Object.fromEntries(Array.from(drivers, ([driver, devices]) => [driver, { Devices: devices.map(deviceEntry) }])),
  }));
  const data = JSON.stringify({ kind, apiVersion, ClaimInfoStateList: list });
  return JSON.stringify({ Data: data, Checksum: crc32(data) });
}

function deviceEntry({ poolName, deviceName, shareID, requestNames, cdiDeviceIDs }: DraDevice) {
  return {
    PoolName: poolName,
    DeviceName: deviceName,
    ShareID: shareID ?? null,
    RequestNames: requestNames,
    CDIDeviceIDs: cdiDeviceIDs,
  };
}

function claimsIn(text: string): KeptClaim[] {
  const { Data: data, Checksum: checksum } = members(JSON.parse(text), 'the checkpoint');
  if (typeof data !== 'string') throw new Error('it has no data');
  if (checksum !== crc32(data)) throw new Error('checkpoint is corrupted: the checksum is another one');
  const list = members(JSON.parse(data), 'its data').ClaimInfoStateList;
  return listOf(list).map((entry) => {
    const claim = members(entry, 'a claim');
    return {
      uid: textOf(claim.ClaimUID),
      name: textOf(claim.ClaimName),
      namespace: textOf(claim.Namespace),
      podUIDs: new Set(Object.keys(members(claim.PodUIDs ?? {}, 'the pods of a claim'))),
      drivers: new Map(
        Object.entries(members(claim.DriverState ?? {}, 'the drivers of a claim')).map(([driver, state]) => [
          driver,
          listOf(members(state, 'the state of a driver').Devices).map(deviceIn),
        ]),
      ),
    };
  });
}

function deviceIn(entry: unknown): DraDevice {
  const device = members(entry, 'a device');
  const shareID = device.ShareID ?? undefined;
  return {
    poolName: textOf(device.PoolName),
    deviceName: textOf(device.DeviceName),
    ...(shareID !== undefined && { shareID: textOf(shareID) }),
    requestNames: listOf(device.RequestNames).map(textOf),
    cdiDeviceIDs: listOf(device.CDIDeviceIDs).map(textOf),
  };
}

function members(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isJsonObject(value)) throw new Error(`${what} is no object`);
  return value;
}

/** Go writes an empty list as null. */
function listOf(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) throw new Error('what should be a list is none');
  return value;
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new Error('what should be text is none');
  return value;
}

// Behaviour of pkg/kubelet/cm/devicemanager/checkpoint and pkg/kubelet/checkpointmanager/checksum, v1.36.3.

import { isJsonObject } from '../../api/json/json.ts';

/** What a container has of a resource, as the file has it. */
export interface CheckpointEntry {
  readonly PodUID: string;
  readonly ContainerName: string;
  readonly ResourceName: string;
  /** By NUMA node; null where there are none. */
  readonly DeviceIDs: Readonly<Record<string, readonly string[] | null>> | null;
  /** In base64. */
  readonly AllocResp: string | null;
}

/** What is kept of devices over restarts. */
export interface DeviceCheckpoint {
  readonly entries: readonly CheckpointEntry[];
  /** The ids of the healthy devices by resource. */
  readonly registered: Readonly<Record<string, readonly string[]>>;
}

/** The text of the file, which a kubelet reads. */
export function checkpointText({ entries, registered }: DeviceCheckpoint): string {
  const data = { PodDeviceEntries: entries.length === 0 ? null : entries, RegisteredDevices: registered };
  return JSON.stringify({ Data: data, Checksum: checksumOf(data) });
}

/** Reads such a text. Throws where it is none, and where its checksum is not that of what it says. */
export function readCheckpoint(text: string): DeviceCheckpoint {
  const { Data, Checksum }: Partial<Record<string, unknown>> = objectOf(JSON.parse(text), 'the file');
  const { PodDeviceEntries, RegisteredDevices }: Partial<Record<string, unknown>> = objectOf(Data, 'Data');
  const entries = PodDeviceEntries === null ? null : listOf(PodDeviceEntries).map(entryOf);
  const registered: Record<string, readonly string[]> = {};
  for (const [resource, ids] of Object.entries(objectOf(RegisteredDevices ?? {}, 'RegisteredDevices'))) {
    registered[resource] = ids === null ? [] : textsOf(ids);
  }
  const expected = checksumOf({ PodDeviceEntries: entries, RegisteredDevices: registered });
  if (Checksum !== expected)
    throw new Error(`checkpoint is corrupted: its checksum is ${expected}, and it says ${String(Checksum)}`);
  return { entries: entries ?? [], registered };
}

interface CheckpointData {
  readonly PodDeviceEntries: readonly CheckpointEntry[] | null;
  readonly RegisteredDevices: Readonly<Record<string, readonly string[]>>;
}

function objectOf(value: unknown, what: string): Record<string, unknown> {
  if (!isJsonObject(value)) throw new Error(`${what} is no object`);
  return value;
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('a list is none');
  return value;
}

function textsOf(value: unknown): string[] {
  return listOf(value).map(textOfEntry);
}

function textOfEntry(value: unknown): string {
  if (typeof value !== 'string') throw new Error('a text is none');
  return value;
}

function entryOf(value: unknown): CheckpointEntry {
  const entry: Partial<Record<string, unknown>> = objectOf(value, 'an entry');
  const { PodUID, ContainerName, ResourceName, DeviceIDs, AllocResp } = entry;
  const byNUMA =
    DeviceIDs === null
      ? null
      : Object.fromEntries(
          Object.entries(objectOf(DeviceIDs, 'DeviceIDs')).map(([node, ids]) => [node, ids === null ? null : textsOf(ids)]),
        );
  return {
    PodUID: textOfEntry(PodUID),
    ContainerName: textOfEntry(ContainerName),
    ResourceName: textOfEntry(ResourceName),
    DeviceIDs: byNUMA,
    AllocResp: AllocResp === null ? null : textOfEntry(AllocResp),
  };
}

// The kubelet's checksum is FNV-1a of what Go's package spew prints of the data, with the names of Go's types.

function checksumOf({ PodDeviceEntries, RegisteredDevices }: CheckpointData): number {
  const entries = PodDeviceEntries === null ? '<nil>' : printedList(PodDeviceEntries.map(printedEntry));
  const registered = printedMap(RegisteredDevices, byText, printedList);
  return fnv1a(
    `(checkpoint.checkpointData){PodDeviceEntries:([]checkpoint.PodDevicesEntry)${entries} RegisteredDevices:(map[string][]string)${registered}}`,
  );
}

function printedEntry({ PodUID, ContainerName, ResourceName, DeviceIDs, AllocResp }: CheckpointEntry): string {
  const devices =
    DeviceIDs === null ? '<nil>' : printedMap(DeviceIDs, byNumber, (ids) => (ids === null ? '<nil>' : printedList(ids)));
  const bytes = AllocResp === null ? '<nil>' : printedList([...Buffer.from(AllocResp, 'base64')]);
  const names = `PodUID:(string)${PodUID} ContainerName:(string)${ContainerName} ResourceName:(string)${ResourceName}`;
  return `{${names} DeviceIDs:(checkpoint.DevicesPerNUMA)${devices} AllocResp:([]uint8)${bytes}}`;
}

function printedList(items: readonly (string | number)[]): string {
  return `[${items.join(' ')}]`;
}

function printedMap<T>(
  map: Readonly<Record<string, T>>,
  order: (one: string, other: string) => number,
  printed: (value: T) => string,
): string {
  const keys = Object.keys(map).sort(order);
  return `map[${keys.map((key) => `${key}:${printed(map[key] as T)}`).join(' ')}]`;
}

const byText = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));
const byNumber = (one: string, other: string): number => Number(one) - Number(other);

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

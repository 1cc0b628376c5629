import type { Json, JsonObject, PodStatus, WirePodStatus } from '../../../../src/api/json/types.ts';

/** Statuses made up for a test have only the members that it is about. */
export const podStatus = (status: unknown) => status as PodStatus;
export const wireStatus = (status: unknown) => status as WirePodStatus;
export const asJson = (status: PodStatus | WirePodStatus) => status as unknown as JsonObject;

/** What two statuses have in common when they mean the same: no nulls, no zero values, no empty lists. */
export function effective(value: Json): Json {
  if (Array.isArray(value)) return value.map(effective);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => [key, effective(inner)]);
  return Object.fromEntries(entries.filter(([key, inner]) => !isZero(key, inner)));
}

function isZero(key: string, value: Json): boolean {
  if (value === null || value === '' || value === 0 || (value === false && key !== 'started')) return true;
  if (key !== 'state' && key !== 'lastState') return Array.isArray(value) && value.length === 0;
  return JSON.stringify(value) === '{}';
}

/** The JSON format appends to these lists: their order is no difference there. */
export function unordered(value: Json): Json {
  const status = JSON.parse(JSON.stringify(effective(value), (_key, inner: Json) => sortedMembers(inner))) as JsonObject;
  for (const key of ['conditions', 'resourceClaimStatuses']) {
    const list = status[key];
    if (Array.isArray(list)) list.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  return status;
}

function sortedMembers(value: Json): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function hasRepeatedKeys(status: JsonObject): boolean {
  const lists: [string, string][] = [
    ['conditions', 'type'],
    ['podIPs', 'ip'],
  ];
  return lists.some(([field, key]) => {
    const list = (status[field] ?? []) as JsonObject[];
    return new Set(list.map((item) => item[key])).size !== list.length;
  });
}

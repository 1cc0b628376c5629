import type { WireContainerStatus, WirePodCondition } from '../../wire/types.ts';
import { isObject, type Source } from './canonical-json.ts';

type ContainerState = NonNullable<WireContainerStatus['state']>;

/**
 * True only if the canonical form of `value` would be `canonical`, found without making it. False settles nothing: a
 * value in another spelling may well come to the same, and must be made canonical to tell.
 */
export function saysTheSame(value: unknown, canonical: unknown): boolean {
  if (value === canonical) return true;
  if (typeof value !== 'object') return false;
  if (value === null) return canonical === undefined;
  if (Array.isArray(value)) return sameList(value, canonical);
  if (value instanceof Date) return sameSecond(value, canonical);
  return isObject(canonical) && sameMembers(value as Source, canonical);
}

/** {@link saysTheSame} for one container status: an absent state says the same as an empty one. */
export function isSameContainerStatus(source: Source, canonical: WireContainerStatus, maxMessageBytes: number): boolean {
  let absent = 0;
  if ((source.state ?? undefined) === undefined && isEmpty(canonical.state)) absent++;
  if ((source.lastState ?? undefined) === undefined && isEmpty(canonical.lastState)) absent++;
  return (
    sameMembers(source, canonical as object as Source, absent) &&
    messageFits(canonical.state, maxMessageBytes) &&
    messageFits(canonical.lastState, maxMessageBytes)
  );
}

/** {@link saysTheSame} for a container's state, whose message has to fit. */
export function isSameState(source: Source, canonical: ContainerState, maxMessageBytes: number): boolean {
  return sameMembers(source, canonical as object as Source) && messageFits(canonical, maxMessageBytes);
}

/** {@link saysTheSame} for a condition whose transition time follows from the status before: it does not count. */
export function isSameCondition(source: Source, canonical: WirePodCondition): boolean {
  for (const key of Object.keys(source)) {
    const value = source[key];
    if (value === undefined || value === null) continue;
    if (key === 'lastTransitionTime') {
      if (!isPlainTime(value) && value !== canonical.lastTransitionTime) return false;
    } else if (!saysTheSame(value, canonical[key as keyof WirePodCondition] ?? emptyText(key))) return false;
  }
  for (const key in canonical) {
    if (key !== 'lastTransitionTime' && (source[key] ?? undefined) === undefined) return false;
  }
  return true;
}

/** An empty reason or message is an absent one. */
function emptyText(key: string): '' | undefined {
  return key === 'reason' || key === 'message' ? '' : undefined;
}

/** `absent` members of `canonical` have no counterpart, and need none. */
function sameMembers(source: Source, canonical: Source, absent = 0): boolean {
  let expected = -absent;
  for (const _ in canonical) expected++;
  for (const key of Object.keys(source)) {
    const value = source[key];
    if (value === undefined || value === null) continue;
    const own = canonical[key];
    if (key === '__proto__' || !saysTheSame(value, own)) return false;
    if (own !== undefined) expected--;
  }
  return expected === 0;
}

function sameList(list: readonly unknown[], canonical: unknown): boolean {
  if (!Array.isArray(canonical)) return list.length === 0 && canonical === undefined;
  if (list.length !== canonical.length) return false;
  for (let i = 0; i < list.length; i++) {
    if (list[i] === undefined || list[i] === null || !saysTheSame(list[i], canonical[i])) return false;
  }
  return true;
}

function sameSecond(date: Date, canonical: unknown): boolean {
  if (typeof canonical !== 'string' || canonical.length !== 'YYYY-MM-DDTHH:MM:SSZ'.length) return false;
  return Math.floor(date.getTime() / 1000) * 1000 === Date.parse(canonical);
}

/** A time that needs no look at its text. */
function isPlainTime(value: unknown): boolean {
  return value === undefined || value === null || (value instanceof Date && !Number.isNaN(value.getTime()));
}

function isEmpty(object: object | undefined): boolean {
  for (const _ in object) return false;
  return object !== undefined;
}

function messageFits(state: ContainerState | undefined, maxBytes: number): boolean {
  const message = state?.terminated?.message;
  return message === undefined || message.length * 3 <= maxBytes || Buffer.byteLength(message) <= maxBytes;
}

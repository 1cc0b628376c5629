// Whether a value has a certain canonical form, found out without making that form. Each function here is true only if
// it has. False settles nothing: a value that is written otherwise (`1000m` for `1`) may have the same canonical form.

import { containerStatusMembers, podConditionMembers } from '../../api/json/status-members.ts';
import type { WireContainerState, WireContainerStatus, WirePodCondition } from '../../api/json/types.ts';
import { isLeftOut, isObject, type Source } from './canonical-json.ts';

/** True for a member that stands in the canonical form where the source has none. */
type IsFilledIn = (key: string, canonical: unknown) => boolean;

export function isSame(value: unknown, canonical: unknown): boolean {
  if (value === canonical) return true;
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return isSameList(value, canonical);
  if (value instanceof Date) return isSameSecond(value, canonical);
  return isObject(canonical) && isSameObject(value as Source, canonical);
}

/** {@link isSame} for one container status, whose termination messages have to fit into `maxMessageBytes`. */
export function isSameContainerStatus(source: Source, canonical: WireContainerStatus, maxMessageBytes: number): boolean {
  return (
    hasSameMembers(source, canonical as object as Source, containerStatusMembers, isContainerDefault) &&
    messageFits(canonical.state, maxMessageBytes) &&
    messageFits(canonical.lastState, maxMessageBytes)
  );
}

/** {@link isSame} for a container's state, whose termination message has to fit into `maxMessageBytes`. */
export function isSameState(value: unknown, canonical: WireContainerState, maxMessageBytes: number): boolean {
  return isSame(value, canonical) && messageFits(canonical, maxMessageBytes);
}

/** {@link isSame} for one condition. */
export function isSameCondition(source: Source, canonical: WirePodCondition): boolean {
  return hasSameMembers(source, canonical as object as Source, podConditionMembers, isConditionDefault);
}

/** {@link isSameCondition} for a condition whose transition time is derived: it has to be a time, and any will do. */
export function isSameButForTime(source: Source, canonical: WirePodCondition): boolean {
  const time = source.lastTransitionTime;
  if (!isAbsent(time) && time !== canonical.lastTransitionTime && !isValidDate(time)) return false;
  return hasSameMembers(source, canonical as object as Source, podConditionMembers, isConditionDefault, 'lastTransitionTime');
}

/** A container status without these members has them in its canonical form, with their zero value. */
const isContainerDefault: IsFilledIn = (key, canonical) => {
  if (key === 'state' || key === 'lastState') return countMembers(canonical as Source) === 0;
  if (key === 'ready') return canonical === false;
  if (key === 'restartCount') return canonical === 0;
  return (key === 'image' || key === 'imageID') && canonical === '';
};

const isConditionDefault: IsFilledIn = (key, canonical) => key === 'status' && canonical === '';

/** `ignored`: a member that does not count on either side. */
function hasSameMembers(
  source: Source,
  canonical: Source,
  known: ReadonlySet<string>,
  isFilledIn: IsFilledIn,
  ignored?: string,
): boolean {
  let unmatched = 0;
  for (const key in canonical) if (key !== ignored) unmatched++;
  for (const key of Object.keys(source)) {
    const value = source[key];
    if (value === undefined || value === null || key === ignored) continue;
    const own = canonical[key];
    if (own === undefined) {
      if (!known.has(key) || !isLeftOut(key, value)) return false;
    } else {
      if (value !== own && !isSame(value, own)) return false;
      unmatched--;
    }
  }
  return unmatched === 0 || isRestFilledIn(source, canonical, isFilledIn, ignored);
}

function isRestFilledIn(source: Source, canonical: Source, isFilledIn: IsFilledIn, ignored: string | undefined): boolean {
  for (const key in canonical) {
    if (isAbsent(source[key]) && key !== ignored && !isFilledIn(key, canonical[key])) return false;
  }
  return true;
}

function isSameList(list: readonly unknown[], canonical: unknown): boolean {
  if (!Array.isArray(canonical) || list.length !== canonical.length) return false;
  for (let i = 0; i < list.length; i++) {
    if (!isSame(list[i], canonical[i])) return false;
  }
  return true;
}

function isSameObject(source: Source, canonical: Source): boolean {
  let unmatched = countMembers(canonical);
  for (const key of Object.keys(source)) {
    const value = source[key];
    if (isAbsent(value)) continue;
    if (key === '__proto__' || !isSame(value, canonical[key])) return false;
    unmatched--;
  }
  return unmatched === 0;
}

function isSameSecond(date: Date, canonical: unknown): boolean {
  if (typeof canonical !== 'string' || canonical.length !== 'YYYY-MM-DDTHH:MM:SSZ'.length) return false;
  return Math.floor(date.getTime() / 1000) * 1000 === Date.parse(canonical);
}

function isValidDate(value: unknown): boolean {
  return value instanceof Date && !Number.isNaN(value.getTime());
}

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

function countMembers(object: Source): number {
  let count = 0;
  for (const _ in object) count++;
  return count;
}

function messageFits(state: WireContainerState | undefined, maxBytes: number): boolean {
  const message = state?.terminated?.message;
  return message === undefined || message.length * 3 <= maxBytes || Buffer.byteLength(message) <= maxBytes;
}

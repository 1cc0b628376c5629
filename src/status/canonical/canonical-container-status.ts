import { containerStatusMembers } from '../../api/json/status-members.ts';
import type { WireContainerStatus } from '../../api/json/types.ts';
import { invalidArgument } from '../../base/errors.ts';
import { canonicalMember, canonicalObject } from './canonical-json.ts';
import { canonicalText, isObject, type Source } from './source.ts';

type ContainerState = NonNullable<WireContainerStatus['state']>;

/** One object serves every empty container state: most statuses have an empty lastState. */
const emptyState: ContainerState = Object.freeze({});

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * A copy of one container status in canonical form. Members that Go always writes are always there
 * (`name`, `image`, `imageID`, `ready`, `restartCount`, `state`, `lastState`).
 */
export function canonicalContainerStatus(source: Source, path: string, maxMessageBytes: number): WireContainerStatus {
  const state = canonicalState(source.state, `${path}.state`, maxMessageBytes);
  const lastState = canonicalState(source.lastState, `${path}.lastState`, maxMessageBytes);
  return containerStatusOf(source, path, state, lastState);
}

/** {@link canonicalContainerStatus} with states that are canonical already. */
export function containerStatusOf(
  source: Source,
  path: string,
  state: ContainerState,
  lastState: ContainerState,
): WireContainerStatus {
  const result: Record<string, unknown> & WireContainerStatus = {
    name: text('name', source.name, path),
    state,
    lastState,
    ready: source.ready === true,
    restartCount: typeof source.restartCount === 'number' ? source.restartCount : 0,
    image: text('image', source.image, path),
    imageID: text('imageID', source.imageID, path),
  };
  for (const key of Object.keys(source)) {
    switch (key) {
      case 'name':
      case 'state':
      case 'lastState':
      case 'image':
      case 'imageID':
      case '__proto__':
        break;
      case 'ready':
        expectType(source.ready, 'boolean', key, path);
        break;
      case 'restartCount':
        expectType(source.restartCount, 'number', key, path);
        if (!Number.isFinite(result.restartCount))
          throw invalidArgument(`${path}.${key}`, 'a finite number', source.restartCount);
        break;
      default: {
        const member = canonicalMember(containerStatusMembers, key, source[key], path);
        if (member !== undefined) result[key] = member;
      }
    }
  }
  return result;
}

/** Cuts a termination message to `maxMessageBytes`. */
export function canonicalState(value: unknown, path: string, maxMessageBytes: number): ContainerState {
  if (value === undefined || value === null) return emptyState;
  if (!isObject(value)) throw invalidArgument(path, 'an object', value);
  const state = canonicalObject(value, path);
  const { terminated } = state;
  if (isObject(terminated)) {
    terminated.exitCode ??= 0;
    if (typeof terminated.message === 'string') terminated.message = cutToBytes(terminated.message, maxMessageBytes);
  }
  for (const _ in state) return state as ContainerState;
  return emptyState;
}

/** The longest beginning of `text` that fits into `maxBytes` of UTF-8 without splitting a character. */
function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return decoder.decode(bytes.subarray(0, end));
}

function text(key: string, value: unknown, parent: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw invalidArgument(`${parent}.${key}`, 'a string', value);
  return canonicalText(value);
}

function expectType(value: unknown, type: 'boolean' | 'number', key: string, parent: string): void {
  if (value !== undefined && value !== null && typeof value !== type) {
    throw invalidArgument(`${parent}.${key}`, `a ${type}`, value);
  }
}

import { invalidArgument } from '../../errors.ts';
import type { Json, WireContainerStatus } from '../../wire/types.ts';
import { canonicalMember, canonicalText, isObject, type Source } from './canonical-json.ts';
import { isSameState } from './same-as-canonical.ts';

/** One object serves every empty container state: most statuses have an empty lastState. */
const emptyState: WireContainerStatus['state'] & object = Object.freeze({});

type ContainerState = NonNullable<WireContainerStatus['state']>;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The longest beginning of `text` that fits into `maxBytes` of UTF-8 without splitting a character. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return decoder.decode(bytes.subarray(0, end));
}

/** `before` itself, a canonical state, where `value` says the same. */
function canonicalState(
  value: unknown,
  before: ContainerState | undefined,
  path: string,
  maxMessageBytes: number,
): ContainerState {
  if (value === undefined || value === null) return emptyState;
  if (!isObject(value)) throw invalidArgument(path, 'an object', value);
  if (before !== undefined && isSameState(value, before, maxMessageBytes)) return before;
  let state: { [key: string]: Json } | undefined;
  for (const kind of Object.keys(value)) {
    const inner = canonicalMember(kind, value[kind], path);
    if (inner === undefined) continue;
    if (kind === 'terminated' && isObject(inner)) {
      inner.exitCode ??= 0;
      if (typeof inner.message === 'string') inner.message = cutToBytes(inner.message, maxMessageBytes);
    }
    state ??= {};
    state[kind] = inner;
  }
  return (state as ContainerState | undefined) ?? emptyState;
}

function text(key: string, value: unknown, parent: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw invalidArgument(`${parent}.${key}`, 'a string', value);
  return canonicalText(value);
}

/**
 * A copy of one container status in canonical form. Members that Go always writes are always there
 * (`name`, `image`, `imageID`, `ready`, `restartCount`, `state`, `lastState`). It shares with `before`, a canonical
 * status that is never changed, the states that say the same.
 */
export function canonicalContainerStatus(
  source: Source,
  path: string,
  maxMessageBytes: number,
  before?: WireContainerStatus,
): WireContainerStatus {
  const result: Record<string, unknown> & WireContainerStatus = {
    name: text('name', source.name, path),
    state: canonicalState(source.state, before?.state, `${path}.state`, maxMessageBytes),
    lastState: canonicalState(source.lastState, before?.lastState, `${path}.lastState`, maxMessageBytes),
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
        break;
      default: {
        const member = canonicalMember(key, source[key], path);
        if (member !== undefined) result[key] = member;
      }
    }
  }
  return result;
}

function expectType(value: unknown, type: 'boolean' | 'number', key: string, parent: string): void {
  if (value !== undefined && value !== null && typeof value !== type) {
    throw invalidArgument(`${parent}.${key}`, `a ${type}`, value);
  }
}

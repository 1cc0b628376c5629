import type { Prng } from '../../chaos/prng.ts';
import type { MirrorCase, MirrorStep } from './case.ts';

/** A recording with one falsehood, and what it is. */
export interface FalsifiedMirrorCase {
  readonly case: MirrorCase;
  readonly lie: string;
}

type Holder = Record<string, unknown>;

/** Changes, drops or adds one member somewhere in the expectation of one step. Undefined for a case without steps. */
export function falsifyMirror(original: MirrorCase, prng: Prng): FalsifiedMirrorCase | undefined {
  const steps = structuredClone(original.steps) as MirrorStep[];
  if (steps.length === 0) return undefined;
  const index = prng.int(0, steps.length - 1);
  const expect = steps[index]?.expect as Holder;
  const holders = [...holdersIn(expect)];
  const { holder, path } = holders[prng.int(0, holders.length - 1)] ?? { holder: expect, path: 'expect' };
  const keys = Object.keys(holder);
  const how = keys.length === 0 ? 'added' : (['changed', 'dropped', 'added'] as const)[prng.int(0, 2)];
  const key = how === 'added' ? newKey(holder) : (keys[prng.int(0, keys.length - 1)] ?? '');
  if (how === 'dropped') drop(holder, key);
  else holder[key] = how === 'added' ? 'never said' : another(holder[key]);
  return { case: { ...original, steps }, lie: `step ${index}: ${path}.${key} ${how}` };
}

/** The objects and lists of an expectation, itself included. */
function* holdersIn(value: unknown, path = 'expect'): Generator<{ readonly holder: Holder; readonly path: string }> {
  if (typeof value !== 'object' || value === null) return;
  yield { holder: value as Holder, path };
  for (const [key, inner] of Object.entries(value)) yield* holdersIn(inner, `${path}.${key}`);
}

function newKey(holder: Holder): string {
  return Array.isArray(holder) ? String(holder.length) : 'added';
}

function drop(holder: Holder, key: string): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
}

function another(value: unknown): unknown {
  if (typeof value === 'string') return `${value}x`;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  return Array.isArray(value) ? [...value, 'never said'] : { ...(value as Holder), changed: true };
}

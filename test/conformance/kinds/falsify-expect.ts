import type { Prng } from '../../random/chaos/prng.ts';

/** A recording with one falsehood, and what it is. */
export interface Falsified<Case> {
  readonly case: Case;
  readonly lie: string;
}

export type Holder = Record<string, unknown>;

interface SteppedCase {
  readonly steps: readonly { readonly expect: object }[];
}

/** Changes, drops or adds one member somewhere in what one step is said to have led to. Undefined where nothing is said. */
export function falsifyExpect<Case extends SteppedCase>(original: Case, prng: Prng): Falsified<Case> | undefined {
  const steps = structuredClone(original.steps);
  const told = [...steps.keys()].filter((index) => Object.keys(steps[index]?.expect ?? {}).length > 0);
  const index = prng.pick(told);
  const step = steps[index ?? -1];
  if (step === undefined) return undefined;
  const lie = tellLie(step.expect as Holder, prng);
  return { case: { ...original, steps }, lie: `step ${index}: ${lie}` };
}

/** Changes one member in place, however deep, and says which. */
export function tellLie(told: Holder, prng: Prng): string {
  const holders = [...holdersIn(told)];
  const { holder, path } = prng.pick(holders) ?? { holder: told, path: '' };
  const key = prng.pick(Object.keys(holder));
  const how = key === undefined ? 'added' : (prng.pick(['changed', 'dropped', 'added']) ?? 'added');
  if (key === undefined || how === 'added') holder[Array.isArray(holder) ? holder.length : 'added'] = 'never said';
  else if (how === 'changed') holder[key] = another(holder[key]);
  else if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
  return `${path}.${key} ${how}`;
}

/** The objects and lists of a value, itself included. */
function* holdersIn(value: unknown, path = 'expect'): Generator<{ readonly holder: Holder; readonly path: string }> {
  if (typeof value !== 'object' || value === null) return;
  yield { holder: value as Holder, path };
  for (const [key, inner] of Object.entries(value)) yield* holdersIn(inner, `${path}.${key}`);
}

function another(value: unknown): unknown {
  if (typeof value === 'string') return `${value}x`;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  return Array.isArray(value) ? [...value, 'never said'] : { ...(value as Holder), changed: true };
}

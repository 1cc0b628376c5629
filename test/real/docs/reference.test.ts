import { describe, expect, it } from 'vitest';
import { errorCodes } from '../../../src/base/errors.ts';
import {
  type Declaration,
  namesOf,
  undocumented,
  unknownCodes,
  withoutDefault,
  withoutExample,
  withoutUnit,
} from './reference.ts';
import { readReference } from './support/built-site.ts';

const rules = [
  ['has words of its own', undocumented],
  ['shows its use, if it is a class or a function', withoutExample],
  ['says its unit, if it is a number among options', withoutUnit],
  ['says what counts without it, if it is a number that may be left out', withoutDefault],
  ['names only error codes that exist', (names) => unknownCodes(names, Object.keys(errorCodes))],
] as const satisfies readonly (readonly [string, (names: ReturnType<typeof namesOf>) => string[]])[];

const { children: entryPoints } = readReference<{ children: Declaration[] }>();

const singleFunctions = ['pod-status-manager/certificates', 'pod-status-manager/systemd'];
/** How many names an entry point has at least. One that is there for a single function has that, and types that other ones have, too. */
const fewest = (entryPoint: string): number => (singleFunctions.includes(entryPoint) ? 1 : 6);

describe.each(entryPoints.map((entry) => [entry.name, entry] as const))('each public name of %s', (name, entryPoint) => {
  const names = namesOf(entryPoint);

  it('is there', () => {
    expect(names.length).toBeGreaterThanOrEqual(fewest(name));
  });

  it.each(rules)('%s', (_, findFaults) => {
    expect(findFaults(names)).toEqual([]);
  });
});

describe('the rules', () => {
  const property = (name: string, more: object): Declaration => ({
    name,
    kind: 1024,
    variant: 'declaration',
    flags: {},
    ...more,
  });
  const text = (words: string) => ({ comment: { summary: [{ text: words }] } });
  const number = { type: { type: 'intrinsic', name: 'number' }, flags: { isOptional: true } };
  const entryPoint: Declaration = {
    ...property('entryPoint', { kind: 2 }),
    children: [
      property('Bare', { kind: 128 }),
      property('SomeOptions', {
        kind: 256,
        ...text('Options.'),
        children: [
          property('depth', { ...number, ...text('How deep. Default 3.') }),
          property('waitMs', { ...number, ...text('How long it waits. Fails with ERR_NOWHERE.') }),
          property('most', { ...number, ...text('Pods at once. Default 3.') }),
        ],
      }),
    ],
  };
  const expected = [['Bare'], ['Bare'], ['SomeOptions.depth'], ['SomeOptions.waitMs'], ['SomeOptions.waitMs: ERR_NOWHERE']];

  it.each(
    rules.map(([says, findFaults], index) => [says, findFaults, expected[index]] as const),
  )('find what breaks one: %s', (_, findFaults, faults) => {
    expect(findFaults(namesOf(entryPoint))).toEqual(faults);
  });
});

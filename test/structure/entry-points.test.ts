import { describe, expect, it } from 'vitest';
import { StatusManagerError } from '../../src/base/errors.ts';
import { entryPoints } from './rooms.ts';
import { readTree } from './source-tree.ts';

type Class = new (...args: never[]) => unknown;

/** The public classes, by name. */
async function publicClasses(): Promise<[name: string, entry: Class][]> {
  const modules: Record<string, unknown>[] = await Promise.all(entryPoints.map((name) => import(`../../src/${name}.ts`)));
  const entries = modules.flatMap((names) => Object.entries(names));
  return entries.filter((entry): entry is [string, Class] => typeof entry[1] === 'function' && /^class /.test(String(entry[1])));
}

function isClosedByHand({ prototype }: Class): boolean {
  const canEnd = ['stop', 'close'].some((name) => typeof Object.getOwnPropertyDescriptor(prototype, name)?.value === 'function');
  return canEnd && !(Symbol.asyncDispose in prototype);
}

function isErrorWithoutCode(entry: Class): boolean {
  return entry.prototype instanceof Error && entry !== StatusManagerError && !(entry.prototype instanceof StatusManagerError);
}

describe('the public classes', () => {
  it('that can be stopped or closed work with `await using`', async () => {
    const classes = await publicClasses();
    expect(classes.length).toBeGreaterThan(50);
    expect(classes.filter(([, entry]) => isClosedByHand(entry)).map(([name]) => name)).toEqual([]);
  });

  it('that are errors are StatusManagerErrors, with a code', async () => {
    const classes = await publicClasses();
    expect(classes.filter(([, entry]) => isErrorWithoutCode(entry)).map(([name]) => name)).toEqual([]);
  });

  it('are seen to lack these', () => {
    class Closable {
      close(): void {}
    }
    class Strange extends Error {}
    expect([isClosedByHand(Closable), isErrorWithoutCode(Strange)]).toEqual([true, true]);
  });
});

describe('the entry points of src', () => {
  it.each(entryPoints)('%s can be imported, and each of its names stands for something', async (entryPoint) => {
    const names: Record<string, unknown> = await import(`../../src/${entryPoint}.ts`);
    expect(Object.keys(names).length).toBeGreaterThan(0);
    expect(Object.keys(names).filter((name) => names[name] === undefined)).toEqual([]);
  });

  it.each(entryPoints)('%s asks for the version of Node before it imports anything else', (entryPoint) => {
    const file = readTree('src').find(({ path }) => path === `src/${entryPoint}.ts`);
    expect(file?.imports[0]).toEqual({ specifier: './base/node-version.ts', typeOnly: false });
  });
});

import { describe, expect, it } from 'vitest';
import { entryPoints } from './rooms.ts';
import { readTree } from './source-tree.ts';

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

import { describe, expect, it } from 'vitest';
import { doors } from './rooms.ts';
import { readTree } from './source-tree.ts';

describe('the doors of src', () => {
  it.each(doors)('%s can be imported, and each of its names stands for something', async (door) => {
    const names: Record<string, unknown> = await import(`../../src/${door}.ts`);
    expect(Object.keys(names).length).toBeGreaterThan(0);
    expect(Object.keys(names).filter((name) => names[name] === undefined)).toEqual([]);
  });

  it.each(doors)('%s asks for the version of Node before it imports anything else', (door) => {
    const file = readTree('src').find(({ path }) => path === `src/${door}.ts`);
    expect(file?.imports[0]).toEqual({ specifier: './base/node-version.ts', typeOnly: false });
  });
});

import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { type SoakResult, slopeOf, soakProblems } from './measure.ts';
import { mutated, soakMutants, tryMutant } from './mutants.ts';
import { soakParts } from './parts/index.ts';
import { runPart } from './run-part.ts';

const changes = 3000;

describe('a part that lives for long', () => {
  it.each(soakParts.map(({ name }) => name))('keeps nothing of what is gone, and leaves nothing: %s', async (name) => {
    const result = await runPart(name, { changes, seed: 1 });
    expect(soakProblems(result), JSON.stringify(result)).toEqual([]);
  });
});

describe('the checks of the parts', () => {
  it('know a slope', () => {
    expect(slopeOf([1, 2, 3].map((x) => [x, 5 + 2 * x] as const))).toBe(2);
  });

  it.each<[string, Partial<SoakResult>]>([
    ['each change keeps 70.0 bytes, and may keep 67.7', { bytesAChange: 70 }],
    ['1 objects that are gone can still be reached', { reachable: 1 }],
    ['26 more listeners than after the warm-up', { grown: { timers: 0, listeners: 26, promises: 0, sockets: 0, watches: 0 } }],
    ['1 timers left after the end', { left: { timers: 1, listeners: 0, promises: 0, sockets: 0, watches: 0 } }],
  ])('say that %s', (problem, wrong) => {
    const none = { timers: 0, listeners: 0, promises: 0, sockets: 0, watches: 0 };
    const well = { part: 'p', changes, bytesAChange: 0, reachable: 0, grown: none, left: none, ms: 0 };
    expect(soakProblems(well)).toEqual([]);
    expect(soakProblems({ ...well, ...wrong })).toEqual([problem]);
  });

  it('have mutants of places that there are', async () => {
    for (const mutant of soakMutants) {
      const text = await readFile(new URL(`../../../src/${mutant.file}`, import.meta.url), 'utf8');
      expect(mutated(text, mutant), mutant.name).not.toBe(text);
    }
  });

  // the others: npm run soak -- --mutants
  it.each(
    soakMutants.filter(({ part }) => part === 'probes' || part === 'sources').map((mutant) => [mutant.name, mutant] as const),
  )('notice when %s', async (_, mutant) => {
    expect(await tryMutant(mutant, 1)).not.toEqual([]);
  });
});

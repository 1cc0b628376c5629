import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { floors, rooms } from './rooms.ts';
import { root } from './source-tree.ts';
import { firstCells } from './table-cells.ts';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const pages = ['ARCHITECTURE.md', ...Object.keys(floors).map((floor) => `src/${floor}/README.md`)];

/** The rooms that the README of a floor lists. */
function listedRooms(floor: string, markdown: string): string[] {
  return firstCells(markdown).flatMap((cell) => [...cell.matchAll(/^`([a-z/-]+)`$/g)].map(([, room]) => `${floor}/${room}`));
}

function invariantsIn(markdown: string): string[] {
  return firstCells(markdown).filter((cell) => /^I\d+$/.test(cell));
}

describe('ARCHITECTURE.md and the READMEs of the floors', () => {
  it.each(Object.keys(floors))('list each room of the floor %s', (floor) => {
    const own = Object.keys(rooms).filter((room) => room.startsWith(`${floor}/`));
    expect(listedRooms(floor, read(`src/${floor}/README.md`)).sort()).toEqual(own.sort());
  });

  it('have each invariant once, and those of the heart in ARCHITECTURE.md', () => {
    const all = pages.flatMap((path) => invariantsIn(read(path)));
    expect(all.length).toBeGreaterThan(100);
    expect([...new Set(all)]).toEqual(all);
    expect(invariantsIn(read('ARCHITECTURE.md')).length).toBeGreaterThan(20);
  });

  it('can be read in a few minutes: at most 1,500 words', () => {
    expect(read('ARCHITECTURE.md').split(/\s+/).length).toBeLessThanOrEqual(1500);
  });

  it('are seen to be wrong', () => {
    const page = '| room | what |\n|---|---|\n| `cache` | a |\n\n| I1 | a | b |\n| I1 | c | d |\n';
    expect(listedRooms('status', page)).toEqual(['status/cache']);
    expect(invariantsIn(page)).toEqual(['I1', 'I1']);
  });
});

describe('test/README.md', () => {
  it('lists each folder of test', () => {
    const folders = readdirSync(join(root, 'test'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const listed = firstCells(read('test/README.md')).flatMap((cell) => /^`(\w+)`$/.exec(cell)?.slice(1) ?? []);
    expect(listed.sort()).toEqual(folders.map(({ name }) => name).sort());
  });
});

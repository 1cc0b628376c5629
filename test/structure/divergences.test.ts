import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rules } from '../conformance/replay/replay-rules.ts';
import { root } from './source-tree.ts';
import { firstCells } from './table-cells.ts';

const folder = join(root, 'docs/divergences');
const pages = readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));
const all = pages.map(({ text }) => text).join('\n');
const statusPage = pages.find(({ name }) => name === 'status.md')?.text ?? '';
const letters: Record<string, string> = { 'status.md': 'DS', 'node.md': 'N', 'kubelet.md': 'K', 'scheduler.md': 'C' };

/** The cells that name a divergence. */
const namingCells = (markdown: string): string[] => firstCells(markdown).filter((cell) => cell !== 'id');

const idOf = (cell: string): string => cell.split(' ')[0] ?? '';

function repeatedIds(markdown: string): string[] {
  const ids = namingCells(markdown).map(idOf);
  return ids.filter((id, index) => ids.indexOf(id) < index);
}

function rulesWithoutRow(names: readonly string[], markdown: string): string[] {
  const cells = new Set(namingCells(markdown));
  return names.filter((name) => !cells.has(name));
}

describe('the pages of divergences', () => {
  it.each(Object.keys(letters))('%s has rows that begin with an id of the page and a name', (page) => {
    const cells = namingCells(pages.find(({ name }) => name === page)?.text ?? '');
    expect(cells.length).toBeGreaterThan(30);
    expect(cells.filter((cell) => !new RegExp(`^[${letters[page]}][1-9]\\d* \\S`).test(cell))).toEqual([]);
  });

  it('have each id once', () => {
    expect(repeatedIds(all)).toEqual([]);
  });

  it('have a row for each rule of the replay', () => {
    expect(rulesWithoutRow(Object.keys(rules), statusPage)).toEqual([]);
  });

  it('are checked by what finds a broken one', () => {
    const rows = ['| id | here |', '|---|---|', '| N1 when | a |', '|N1 where |b|'];
    const table = rows.join('\n');
    expect(namingCells(table)).toEqual(['N1 when', 'N1 where']);
    expect(repeatedIds(table)).toEqual(['N1']);
    expect(rulesWithoutRow(['N1 when', 'N2 who'], table)).toEqual(['N2 who']);
  });
});

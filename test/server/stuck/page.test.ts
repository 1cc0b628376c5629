import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { schedulerProblemKinds } from '../../../src/scheduler/problem-kinds.ts';
import { readLogLines } from '../../structure/log-lines.ts';
import { stuckSchedulers } from '../scheduler/stuck-schedulers.ts';
import { pageFile, stuckPage, stuckRows } from './page.ts';
import { wellAgain } from './well-again.ts';

describe('the page "When something is wrong"', () => {
  it('is what the tables of the tests make: `npm run docs:wrong` writes it', async () => {
    expect(await readFile(pageFile, 'utf8')).toBe(stuckPage());
  });

  it('has at least forty rows, each with an id of its own', () => {
    const ids = stuckRows().map(({ id }) => id);
    expect(ids.length).toBeGreaterThanOrEqual(40);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('names no line of the end of failures, and none before it, that no part writes', () => {
    const written = new Set(readLogLines().map(({ message }) => message));
    expect(
      Object.entries(wellAgain)
        .flat()
        .filter((message) => !written.has(message)),
    ).toEqual([]);
  });

  it('has a row of each kind that a scheduler tells of itself, and the scheduler names no kind beside them', async () => {
    const rows = new Set(stuckSchedulers.map(({ kind }) => kind));
    expect(schedulerProblemKinds.filter((kind) => !rows.has(kind))).toEqual([]);
    const guide = await readFile(new URL('../../../docs/guides/scheduler.md', import.meta.url), 'utf8');
    expect(schedulerProblemKinds.filter((kind) => !guide.includes(`\`${kind}\``))).toEqual([]);
    const named = await kindsInSource();
    expect(named.length).toBeGreaterThanOrEqual(15);
    const known: readonly string[] = schedulerProblemKinds;
    expect(named.filter((kind) => !known.includes(kind))).toEqual([]);
  });

  it('has kinds in kebab-case, and help that is one or more whole sentences', () => {
    for (const { id, kind, help } of stuckRows()) {
      expect(kind, id).toMatch(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/);
      if (help !== undefined) expect(help, id).toMatch(/^[A-Z`].*\.$/);
    }
  });
});

/** What the files of the scheduler that know of problems call them. */
async function kindsInSource(): Promise<string[]> {
  const root = new URL('../../../src/scheduler/', import.meta.url);
  const texts = await Promise.all(globSync('**/*.ts', { cwd: root }).map((file) => readFile(new URL(file, root), 'utf8')));
  const telling = texts.filter((text) => /base\/problem\.ts|problem-kinds\.ts|last-attempts\.ts/.test(text));
  return telling.flatMap((text) => [...text.matchAll(/\bkind: '([a-z][a-z0-9-]*)'/g)].map(([, kind = '']) => kind));
}

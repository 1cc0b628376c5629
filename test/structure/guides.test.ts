import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from './source-tree.ts';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const guides = readdirSync(join(root, 'docs/guides')).filter((name) => name.endsWith('.md'));
const drawings = readdirSync(join(root, 'docs/images')).filter((name) => name.endsWith('.svg'));

describe('the guides', () => {
  it.each(guides)('%s has one title, at its beginning, and ends with what to read next', (name) => {
    const prose = read(`docs/guides/${name}`).replace(/^```[\s\S]*?^```$/gm, '');
    expect(prose.match(/^# .+$/gm)).toHaveLength(1);
    expect(prose).toMatch(/^# .+\n/);
    expect(prose).toMatch(/\n\nNext: \[[^\]]+\]\([a-z-]+\.md\)\.\n$/);
  });

  it('are all named by index.md', () => {
    const index = read('docs/guides/index.md');
    expect(guides.filter((name) => name !== 'index.md' && !index.includes(`](${name})`))).toEqual([]);
  });

  it('show the first agent as examples/first-agent.ts has it', () => {
    const fences = [...read('docs/guides/first-agent.md').matchAll(/^```ts no-run\n([\s\S]*?)^```$/gm)];
    expect(fences.map(([, code]) => code)).toEqual([read('examples/first-agent.ts')]);
  });

  it('show each step of the first agent as the whole of it has it', () => {
    const [steps = '', whole = ''] = read('docs/guides/first-agent.md').split('## The whole agent');
    const [run = '', refuse = ''] = [...steps.matchAll(/^```ts[^\n]*\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
    for (const [code, name] of [
      [run, 'const provider'],
      [refuse, 'function admitPod'],
    ] as const) {
      const [, ...parts] = code.split('\n\n');
      expect(parts.join('\n\n')).toContain(name);
      expect(whole).toContain(parts.join('\n\n'));
    }
  });

  it('say of the phases of a sync what their reference says', () => {
    const rows = (text: string): string[] => [...text.matchAll(/^(?: \* )?(\| `[a-z-]+` \| .*)$/gm)].map(([, row = '']) => row);
    const [comment = ''] = read('src/status/sync/sync-phase.ts').split('export type PodSyncPhase');
    const [, words = ''] = read('docs/guides/embed-the-status-manager.md').split('## What each word means');
    expect(rows(words.split('\n## ')[0] ?? '')).toEqual(rows(comment));
    const [, phases = ''] = read('src/status/sync/sync-phase.ts').split('export type PodSyncPhase =');
    const named = [...(phases.split(';')[0] ?? '').matchAll(/'([a-z-]+)'/g)].map(([, phase]) => phase);
    expect(
      rows(comment)
        .map((row) => row.split('`')[1])
        .sort(),
    ).toEqual(named.sort());
  });
});

describe('the drawings', () => {
  const documents = [...guides.map((name) => `docs/guides/${name}`), 'README.md', 'ARCHITECTURE.md'].map(read).join('\n');

  it.each(drawings)('%s is shown, says what it shows, has colours for the dark, and loads nothing', (name) => {
    const svg = read(`docs/images/${name}`);
    expect(documents).toMatch(new RegExp(`!\\[[^\\]]+\\]\\([./a-z]*images/${name}\\)`));
    expect(svg).toMatch(/aria-labelledby="title desc"/);
    expect(svg).toMatch(/<title id="title">[^<]+<\/title>\s*<desc id="desc">[^<]{40,}<\/desc>/);
    expect(svg).toContain('@media (prefers-color-scheme: dark)');
    expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|<script|href=|@import|<image/);
  });
});

describe('the glossary', () => {
  const rows = [...read('docs/glossary.md').matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)]
    .map(([, term = '', meaning = '']) => ({ terms: term.split(', '), meaning }))
    .filter(({ terms }) => !terms.includes('term') && !terms[0]?.startsWith('--'));
  const terms = rows.flatMap((row) => row.terms);

  it('has each term once, in the order of the alphabet', () => {
    expect(terms.length).toBeGreaterThan(60);
    expect(terms.filter((term, index) => terms.indexOf(term) !== index)).toEqual([]);
    const firsts = read('docs/glossary.md').split(/^## /m).slice(1);
    for (const part of firsts) {
      const inPart = [...part.matchAll(/^\| ([a-zA-Z][^|]*) \|/gm)]
        .map(([, term = '']) => term)
        .filter((term) => term !== 'term');
      expect(inPart).toEqual(inPart.toSorted((a, b) => a.localeCompare(b, 'en')));
    }
  });

  it('explains each word in italics that it uses', () => {
    const used = rows.flatMap(({ meaning }) => [...meaning.matchAll(/\*([^*]+)\*/g)].map(([, word = '']) => word));
    expect(used.length).toBeGreaterThan(10);
    const known = (word: string): boolean => terms.some((term) => [term, `${term}s`].includes(word));
    expect([...new Set(used)].filter((word) => !known(word))).toEqual([]);
  });
});

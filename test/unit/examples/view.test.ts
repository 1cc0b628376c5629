import { describe, expect, it } from 'vitest';
import { type Paint, progressBar, renderLines, renderView } from '../../../examples/virtual-node/view.ts';
import { aPicture, plain } from './pictures.ts';

const broken = {
  wrong: ['forbidden: the server refuses the statuses of web-0 with 403'],
  notes: ['the last sync of 1 pod failed'],
  warnings: ['1.0 s an old one', '1.1 s default/web-0: a pod was not synced'],
};

describe('renderView', () => {
  it('shows what it is, counts, rates, the newest events and the progress', () => {
    expect(renderView(aPicture(), 79, plain).split('\n')).toEqual([
      'pod-status-manager  a virtual node  in-memory apiserver  seed 42',
      'pods      10  7 Running  3 Pending',
      'requests  190 for 200 changes  0.95 a change  errors 2',
      'node-a    █░',
      'newest    1.0 s web-0 Pending',
      '          1.2 s web-0 Running',
      `${'█'.repeat(25)}${'░'.repeat(25)}  7.5 of 15 s`,
    ]);
  });

  it('shows what is wrong beside what the library says of it', () => {
    const lines = renderView(aPicture({ ...broken, events: [] }), 79, plain).split('\n');
    expect(lines.slice(4, -1)).toEqual([
      'wrong     forbidden: the server refuses the statuses of web-0 with 403',
      'notes     the last sync of 1 pod failed',
      'warnings  1.0 s an old one',
      '          1.1 s default/web-0: a pod was not synced',
    ]);
    expect(renderView(aPicture({ wrong: [] }), 79, plain)).toContain('wrong     nothing, for now');
  });

  it('shows the newest of many, and says how many notes are left out', () => {
    const many = Array.from({ length: 9 }, (_, index) => `line ${index}`);
    const text = renderView(aPicture({ notes: many, warnings: many, events: many }), 79, plain);
    expect(text).toContain('notes     line 0\n          line 1\n          line 2\n          line 3\n          and 5 more\n');
    expect(text).toContain('warnings  line 6\n          line 7\n          line 8\n');
    expect(text).toContain('newest    line 4\n');
  });

  it.each([1, 5, 10, 20, 34, 60, 79, 200])('makes no line longer than %d columns', (columns) => {
    const lines = renderView(aPicture(broken), columns, plain).split('\n');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns);
  });

  it('loses no count on a narrow terminal', () => {
    const text = renderView(aPicture(), 34, plain);
    for (const piece of ['7 Running', '3 Pending', '0.95 a change', 'errors 2']) expect(text).toContain(piece);
  });

  it('paints as the pieces say', () => {
    const marked: Paint = (style, text) => (style === 'red' ? `<${text}>` : text);
    expect(renderView(aPicture(), 79, marked)).toContain('<errors 2>');
  });
});

describe('renderLines', () => {
  it('is one line with the same facts, without what is for the eye', () => {
    expect(renderLines(aPicture())).toBe(
      '  8 s | pods 10, 7 Running, 3 Pending | requests 190 for 200 changes, 0.95 a change, errors 2',
    );
    expect(renderLines(aPicture({ stage: 'settling' }))).toContain('8 s settling |');
  });

  it('has one more for each of what is wrong, what the node notes, and the newest warning', () => {
    expect(renderLines(aPicture(broken)).split('\n').slice(1)).toEqual([
      '      wrong: forbidden: the server refuses the statuses of web-0 with 403',
      '      note: the last sync of 1 pod failed',
      '      warning: 1.1 s default/web-0: a pod was not synced',
    ]);
  });
});

describe('progressBar', () => {
  it('is full when more time has passed than was asked for', () => {
    expect(progressBar(aPicture({ elapsedMs: 99_000 }), 79, plain)).toBe(`${'█'.repeat(50)}  99.0 of 15 s`);
  });

  it('says that a run goes on, and what it does at the end', () => {
    expect(progressBar(aPicture({ totalMs: undefined }), 79, plain)).toBe('7.5 s, until Ctrl-C');
    expect(progressBar(aPicture({ totalMs: undefined, stage: 'settling' }), 79, plain)).toBe(`${'█'.repeat(50)}  settling`);
  });
});

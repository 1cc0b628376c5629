import { describe, expect, it } from 'vitest';
import { type Paint, progressBar, renderLine, renderView } from '../../../examples/virtual-node/render.ts';
import { aSnapshot } from './snapshots.ts';

const plain: Paint = (_, text) => text;

describe('renderView', () => {
  it('shows pods by phase, versions, requests, delays and the progress', () => {
    expect(renderView(aSnapshot(), 79, plain).split('\n')).toEqual([
      'pod-status-manager  in-memory apiserver  seed 42',
      'pods      10  Pending 1  Running 7  Succeeded 2  Failed 0  deleting 3',
      'lives     created 12  recreated 1  crashes 4  probes 30  deleted 2',
      'versions  200 set  of 250 told',
      'requests  190  0.95 a change  patch 185  get 3  delete 2  errors 0',
      'delay     p50 2.3 ms  p99 41 ms  from set to synced',
      `${'█'.repeat(25)}${'░'.repeat(25)}  7.5 of 15 s`,
    ]);
  });

  it.each([1, 5, 10, 20, 34, 60, 79, 200])('makes no line longer than %d columns', (columns) => {
    const lines = renderView(aSnapshot(), columns, plain).split('\n');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns);
  });

  it('loses nothing on a narrow terminal', () => {
    const text = renderView(aSnapshot(), 34, plain);
    for (const piece of ['Running 7', 'deleting 3', '0.95 a change', 'p99 41 ms', 'errors 0']) expect(text).toContain(piece);
  });

  it('paints errors red', () => {
    const marked: Paint = (style, text) => (style === 'red' ? `<${text}>` : text);
    expect(renderView(aSnapshot({ syncErrors: 2 }), 79, marked)).toContain('<errors 2>');
    expect(renderView(aSnapshot(), 79, marked)).not.toContain('<errors');
  });
});

describe('renderLine', () => {
  it('is one line with the same facts', () => {
    expect(renderLine(aSnapshot())).toBe(
      '  8 s | pods 10 (1 Pending, 7 Running, 2 Succeeded, 0 Failed; 3 deleting) | versions 200 | ' +
        'requests 190 (0.95 a change) | delay p50 2.3 ms p99 41 ms',
    );
  });

  it('shows a dash where nothing is measured yet', () => {
    const line = renderLine(aSnapshot({ versions: 0, p50Ms: undefined, p99Ms: undefined }));
    expect(line).toContain('(- a change) | delay p50 - p99 -');
  });

  it('shows that the run is settling, and the number of errors', () => {
    const line = renderLine(aSnapshot({ stage: 'settling', syncErrors: 1 }));
    expect(line).toContain('8 s settling');
    expect(line).toContain('| errors 1');
  });
});

describe('progressBar', () => {
  it('is full when more time has passed than was asked for', () => {
    expect(progressBar(aSnapshot({ elapsedMs: 99_000 }), 79, plain)).toBe(`${'█'.repeat(50)}  99.0 of 15 s`);
  });
});

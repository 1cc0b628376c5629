import type { Paint, Picture } from '../../../examples/virtual-node/view.ts';

/** Colours nothing. */
export const plain: Paint = (_, text) => text;

/** A run half way through. */
export function aPicture(changes: Partial<Picture> = {}): Picture {
  return {
    title: ['a virtual node', 'in-memory apiserver', 'seed 42'],
    stage: 'running',
    elapsedMs: 7500,
    totalMs: 15_000,
    rows: [
      ['pods', [{ text: '10', style: 'bold' }, { text: '7 Running', style: 'green' }, { text: '3 Pending' }]],
      ['requests', [{ text: '190 for 200 changes' }, { text: '0.95 a change' }, { text: 'errors 2', style: 'red' }]],
      ['node-a', [{ text: '█░' }], true],
    ],
    wrong: undefined,
    notes: [],
    warnings: [],
    events: ['1.0 s web-0 Pending', '1.2 s web-0 Running'],
    ...changes,
  };
}

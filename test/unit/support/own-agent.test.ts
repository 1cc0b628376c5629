import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../structure/source-tree.ts';
import { heapOptions } from '../../support/own-agent.ts';

describe('the options of Node for the node agent', () => {
  it('are those of the unit, and the guide names the same', async () => {
    const guide = await readFile(join(root, 'docs/guides/node-agent.md'), 'utf8');
    expect(heapOptions()).toEqual(expect.arrayContaining([expect.stringMatching(/^--max-old-space-size=\d+$/)]));
    expect(guide).toContain(`node ${heapOptions().join(' ')} kubelet.mjs`);
  });

  it('are missed where the unit gives none', () => {
    expect(() => heapOptions('ExecStart=/usr/bin/node /opt/main.ts --config a')).toThrow('gives Node no options');
  });
});

import { expect, it } from 'vitest';
import { reachable } from '../../../tools/site/reachable.ts';

it('takes links out of what opens a group, leaves the others, and lets a keyboard scroll tables', () => {
  const anchor = '<a href="#x" aria-label="Permalink" class="tsd-anchor-icon"><svg></svg></a>';
  expect(reachable(`<summary><h2>A${anchor}</h2></summary><h3>B${anchor}</h3><table>`)).toBe(
    `<summary><h2>A</h2></summary><h3>B${anchor}</h3><table tabindex="0">`,
  );
});

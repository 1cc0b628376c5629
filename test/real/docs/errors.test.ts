import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { errorCodes } from '../../../src/base/errors.ts';
import { root } from '../../structure/source-tree.ts';

const sections = readFileSync(join(root, 'docs/errors.md'), 'utf8')
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [code = '', , meaning = ''] = section.split('\n');
    return { code, meaning, section };
  });

it('docs/errors.md has a section for each code, with the meaning that errorCodes gives', () => {
  expect(Object.fromEntries(sections.map(({ code, meaning }) => [code, meaning]))).toEqual(errorCodes);
});

it.each(sections)('$code has a cause and something to do', ({ section }) => {
  expect(section).toMatch(/^\*\*Cause\.\*\* \S/m);
  expect(section).toMatch(/^\*\*What to do\.\*\* \S/m);
});

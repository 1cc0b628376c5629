import { describe, expect, it } from 'vitest';
import { sizesAgree, splitReport } from './sizes-section.ts';

describe('sizesAgree', () => {
  it.each([
    ['| `.` | 100 | 40.0 KB |', '| `.` | 104 | 41.9 KB |', true],
    ['| `.` | 100 | 40.0 KB |', '| `.` | 100 | 42.5 KB |', false],
    ['| `.` | 100 | 42.5 KB |', '| `.` | 100 | 40.0 KB |', false],
    ['| `.` | 100 | 40.0 KB |', '| `./node` | 100 | 40.0 KB |', false],
    ['| `.` | 100 | 40.0 KB |', '| `.` | 100 | 40.0 KB |\n| `./node` | 100 | 40.0 KB |', false],
    ['| `.` | 4 | 1.0 KB |', '| `.` | 5 | 2.0 KB |', true],
  ])('%s beside %s: %s', (one, other, agree) => {
    expect(sizesAgree(one, other)).toBe(agree);
  });
});

describe('splitReport', () => {
  it('takes the last section from the rest', () => {
    expect(splitReport('# API\n\n## `.`\n\n## Sizes\n\n1 KB\n')).toEqual({
      api: '# API\n\n## `.`\n\n',
      sizes: '## Sizes\n\n1 KB\n',
    });
    expect(splitReport('# API\n')).toEqual({ api: '# API\n', sizes: '' });
  });
});

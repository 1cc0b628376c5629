import { describe, expect, it } from 'vitest';
import { changelogProblems, checkRelease, thisRelease } from './release-check.ts';

const head = '# Changelog\n\nWords.\n\n';
const released = '## 1.2.0 - 2026-02-01\n\n- New.\n\n## 1.1.9 - 2026-01-31\n\n- Old.\n';

describe('the changelog and the version', () => {
  it('agree in this repository', () => {
    const { changelog, version } = thisRelease();
    expect(changelogProblems({ changelog, version })).toEqual([]);
  });

  it.each([
    ['the newest section is the version', released, '1.2.0'],
    ['more is to come', `## Unreleased\n\n- Next.\n\n${released}`, '1.2.0'],
    ['the version is not released yet', `## Unreleased\n\n- Next.\n\n${released}`, '1.10.0'],
    ['nothing is released yet', '## Unreleased\n\n- First.\n', '0.1.0'],
  ])('agree when %s', (_, text, version) => {
    expect(changelogProblems({ changelog: head + text, version })).toEqual([]);
  });

  it.each([
    [released, '1.1.9', 'package.json says 1.1.9, the changelog 1.2.0'],
    [released, '1.3.0', 'the changelog says nothing of 1.3.0'],
    [`## Unreleased\n\n${released}`, '1.3.0', 'the changelog says nothing of 1.3.0'],
    [`${released}\n## Unreleased\n\n- Next.\n`, '1.2.0', 'Unreleased is not the first section'],
    [`## 1.3.0\n\n- Next.\n\n${released}`, '1.2.0', 'the section "1.3.0" is not named like "1.2.3 - 2026-01-31"'],
    [`## 1.1.10 - 2026-03-01\n\n${released}`, '1.1.10', '1.1.10 of 2026-03-01 stands before 1.2.0 of 2026-02-01'],
    [`## 1.2.1 - 2025-12-31\n\n${released}`, '1.2.1', '1.2.1 of 2025-12-31 stands before 1.2.0 of 2026-02-01'],
  ])('disagree: %j and %s', (text, version, problem) => {
    expect(changelogProblems({ changelog: head + text, version })).toContain(problem);
  });
});

describe('checkRelease', () => {
  const release = { changelog: head + released, version: '1.2.0', repository: 'git+https://github.com/owner/name.git' };

  it('gives the words of the changelog', () => {
    expect(checkRelease(release, 'v1.2.0', 'owner/name')).toEqual({ problems: [], notes: '- New.' });
  });

  it.each([
    [{}, 'v1.2.1', 'owner/name', 'the tag is v1.2.1, and package.json says 1.2.0'],
    [{ version: '1.3.0' }, 'v1.3.0', 'owner/name', 'the changelog has no section of 1.3.0'],
    [{ changelog: `## Unreleased\n\n- Next.\n\n${released}` }, 'v1.2.0', 'owner/name', 'the changelog has unreleased changes'],
    [{}, 'v1.2.0', 'fork/name', 'this is fork/name, and package.json says git+https://github.com/owner/name.git'],
  ])('refuses %j as %s of %s', (change, tag, ownerAndName, problem) => {
    const { problems } = checkRelease({ ...release, ...change }, tag, ownerAndName);
    expect(problems).toEqual(expect.arrayContaining([expect.stringContaining(problem)]));
  });
});

// `node test/package/release-check.ts TAG OWNER/NAME`: says whether the tag of this repository may be released, and prints
// what the changelog says of it. The release workflow runs it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../structure/source-tree.ts';

interface Section {
  readonly title: string;
  readonly version: string | undefined;
  readonly date: string | undefined;
  readonly text: string;
}

export interface Release {
  readonly changelog: string;
  /** Of package.json. */
  readonly version: string;
  /** The repository's URL in package.json. */
  readonly repository: string;
}

function sectionsOf(changelog: string): Section[] {
  const [, ...sections] = changelog.split(/^## /m);
  return sections.map((section) => {
    const [title = '', ...lines] = section.split('\n');
    const [, version, date] = title.match(/^(\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)$/) ?? [];
    return { title, version, date, text: lines.join('\n').trim() };
  });
}

function isNewer(version: string, than: string): boolean {
  return version.localeCompare(than, 'en', { numeric: true }) > 0;
}

/** Everything in which a changelog and the version of its package disagree, in words. */
export function changelogProblems({ changelog, version }: Omit<Release, 'repository'>): string[] {
  const sections = sectionsOf(changelog);
  const problems = sections.flatMap(({ title, version: own, date = '' }, index) => {
    if (title === 'Unreleased') return index === 0 ? [] : ['Unreleased is not the first section'];
    if (own === undefined) return [`the section "${title}" is not named like "1.2.3 - 2026-01-31"`];
    const before = sections[index - 1];
    if (before?.version === undefined || (isNewer(before.version, own) && (before.date ?? '') >= date)) return [];
    return [`${before.version} of ${before.date} stands before ${own} of ${date}`];
  });
  const newest = sections.find((section) => section.version !== undefined)?.version;
  if (newest === version) return problems;
  if (newest !== undefined && isNewer(newest, version))
    return [...problems, `package.json says ${version}, the changelog ${newest}`];
  const unreleased = sections.find(({ title }) => title === 'Unreleased')?.text ?? '';
  return unreleased === '' ? [...problems, `the changelog says nothing of ${version}`] : problems;
}

/** Why a tag may not be released, in words, and what the changelog says of it. */
export function checkRelease(
  release: Release,
  tag: string,
  ownerAndName: string,
): { readonly problems: string[]; readonly notes: string } {
  const { changelog, version, repository } = release;
  const sections = sectionsOf(changelog);
  const section = sections.find((candidate) => candidate.version === version);
  const problems = changelogProblems(release);
  if (tag !== `v${version}`) problems.push(`the tag is ${tag}, and package.json says ${version}`);
  if (section === undefined) problems.push(`the changelog has no section of ${version}`);
  if (sections.some(({ title, text }) => title === 'Unreleased' && text !== ''))
    problems.push('the changelog has unreleased changes');
  if (repository !== `git+https://github.com/${ownerAndName}.git`)
    problems.push(`this is ${ownerAndName}, and package.json says ${repository}: npm gives no provenance for another repository`);
  return { problems, notes: section?.text ?? '' };
}

/** The release that the files of this repository describe. */
export function thisRelease(): Release {
  const { version, repository }: { version: string; repository: { url: string } } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  return { changelog: readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version, repository: repository.url };
}

if (import.meta.main) {
  const [tag = '', ownerAndName = ''] = process.argv.slice(2);
  const { problems, notes } = checkRelease(thisRelease(), tag, ownerAndName);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(notes);
}

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../structure/source-tree.ts';
import { apiReport } from './api-report.ts';
import { readCodeFences, readCommentFences } from './code-fences.ts';
import { type Consumer, createConsumer } from './consumer.ts';
import { sizesAgree, sizesSection, splitReport } from './sizes-section.ts';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();

/** The files of an entry of `files` in package.json: itself, or all in the folder. */
const documentsAt = (name: string): string[] => {
  const path = join(root, name);
  return statSync(path).isDirectory() ? filesBelow(path).map((file) => join(name, file)) : [name];
};

// A test runs every file directly in examples/: it must succeed within a minute. A bigger example has its own folder and tests.
const examples = readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.ts'));
/** Runs until a signal ends it: try-first-agent.ts sees to that. */
const endless = 'first-agent.ts';
/** Those that need no test runner but Node's own. */
const testedExamples = ['job-agent.ts', 'with-node-test.ts'];
const fences = readCodeFences(root);
const commentFences = readCommentFences();
const commentedFiles = [...new Set(commentFences.filter(({ runs }) => runs).map(({ document }) => document))];
const entryPoints = Object.keys(JSON.parse(read('package.json')).exports);

/** The files and folders that a document links to, as paths in the package. */
const linksOf = (document: string, text: string): string[] =>
  [...text.matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)].map(([, target = '']) => posix.join(posix.dirname(document), target));

/**
 * The relative links of a document that would not lead everywhere to the same: those that leave the package's folder or begin at a
 * root, those to what the package lacks, pictures of kinds that not every page shows, and links in another form than `[text](path)`.
 */
function unsafeLinks(document: string, text: string, packageFolder: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');
  const targets = [...prose.matchAll(/(!?)\[[^\]]*\]\((?!\w+:|#)([^)#\s]+)/g)];
  const unsafe = targets.filter(([, picture, target = '']) => {
    const isInside = /^\w/.test(target) && !target.split('/').includes('..');
    const isThere = isInside && existsSync(join(packageFolder, posix.dirname(document), target));
    return !isThere || (picture === '!' && !/\.(?:svg|png|webp)$/.test(target));
  });
  const otherForms = prose.match(/<(?:img|a)\b|^\[[^\]]+\]:/gm) ?? [];
  return [...unsafe.map(([, , target = '']) => target), ...otherForms];
}

/** Each runs in a process of its own, a few at a time: most of them wait more than they work. */
const together = { concurrent: true };

const strictOptions = {
  target: 'es2024',
  lib: ['es2024', 'esnext.disposable'],
  types: ['node'],
  module: 'nodenext',
  moduleDetection: 'force',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
};

let consumer: Consumer;
let sources: readonly string[];

beforeAll(async () => {
  sources = filesBelow(join(root, 'src')).filter((path) => path.endsWith('.ts'));
  consumer = await createConsumer();
  await consumer.write('types.ts', read('test/package/fixture/types.ts'));
  await consumer.write('import-all-entry-points.js', read('test/package/fixture/import-all-entry-points.js'));
  const copied = [...examples, ...testedExamples.map((name) => `testing/${name}`)].map((name) => `examples/${name}`);
  for (const path of copied) await consumer.write(path, read(path));
  for (const { fileName, code } of [...fences, ...commentFences]) await consumer.write(fileName, code);
});

afterAll(() => consumer?.remove());

describe('the tarball', () => {
  it('holds the code and the types of every source file, the documents, and nothing else', () => {
    const modules = sources.flatMap((path) => [path.replace(/\.ts$/, '.d.ts'), path.replace(/\.ts$/, '.js')]);
    const { files }: { files: string[] } = JSON.parse(read('package.json'));
    const documents = files.flatMap((name) => (name === 'dist' ? [] : documentsAt(name)));
    const expected = ['package.json', ...documents, ...modules.map((path) => `dist/${path}`)];
    expect(filesBelow(consumer.packageFolder)).toEqual(expected.sort());
  });

  it('holds what its README and its other documents link to', () => {
    const documents = filesBelow(consumer.packageFolder).filter((path) => path.endsWith('.md'));
    const links = documents.flatMap((from) =>
      linksOf(from, readFileSync(join(consumer.packageFolder, from), 'utf8')).map((to) => ({ from, to })),
    );
    expect(links.map(({ to }) => to)).toContain('ARCHITECTURE.md');
    expect(links.filter(({ to }) => !existsSync(join(consumer.packageFolder, to)))).toEqual([]);
  });

  it('links to the repository only where the repository has the file', () => {
    const { repository } = JSON.parse(read('package.json'));
    const base = `](${repository.url.replace(/^git\+|\.git$/g, '')}/blob/main/`;
    const documents = filesBelow(consumer.packageFolder).filter((path) => path.endsWith('.md'));
    const targets = documents.flatMap((path) =>
      readFileSync(join(consumer.packageFolder, path), 'utf8')
        .split(base)
        .slice(1)
        .map((rest) => rest.split(/[)#\s]/)[0] ?? ''),
    );
    expect(targets).toContain('src/status/README.md');
    expect(targets.filter((target) => !existsSync(join(root, target)))).toEqual([]);
  });

  // npm's page shows README.md alone, and makes of each relative link one to the default branch of `repository`; it reads links of
  // Markdown, and of pictures too. In the tarball, and on a disk, the same links lead to files and folders beside it.
  it('has a README and guides whose links lead to what is in the tarball, and lead the same way on npm and on GitHub', () => {
    const { repository, homepage } = JSON.parse(read('package.json'));
    expect(repository).toEqual({ type: 'git', url: expect.stringMatching(/^git\+https:\/\/github\.com\/[\w-]+\/[\w-]+\.git$/) });
    expect(homepage).toBe(`${repository.url.replace(/^git\+|\.git$/g, '')}#readme`);
    const guides = filesBelow(consumer.packageFolder).filter((path) => /^docs\/guides\/[\w-]+\.md$/.test(path));
    expect(guides).toContain('docs/guides/embed-the-status-manager.md');
    const text = (path: string): string => readFileSync(join(consumer.packageFolder, path), 'utf8');
    expect(unsafeLinks('README.md', text('README.md'), consumer.packageFolder)).toEqual([]);
    const lost = guides.flatMap((path) =>
      linksOf(path, text(path)).filter((to) => !existsSync(join(consumer.packageFolder, to))),
    );
    expect(lost).toEqual([]);
  });

  it('of which such links are found that lead nowhere', () => {
    const links = [
      '[a](../x.md)',
      '[b](/docs)',
      '[c](missing.md)',
      '![d](docs/x.gif)',
      '<img src="docs/floors.svg">',
      '[e](docs/errors.md)',
    ];
    const found = unsafeLinks(
      'README.md',
      `${links.join(' ')} [f]: docs/errors.md\n\n[g]: docs/errors.md`,
      consumer.packageFolder,
    );
    expect(found).toEqual(['../x.md', '/docs', 'missing.md', 'docs/x.gif', '<img', '[g]:']);
  });

  it('refers to no missing file', () => {
    const files = filesBelow(consumer.packageFolder).filter((path) => path.startsWith('dist/'));
    const lost = files.flatMap((path) => {
      const text = readFileSync(join(consumer.packageFolder, path), 'utf8');
      const targets = [...text.matchAll(/\bfrom '(\.[^']*)'/g)].map(([, target = '']) => posix.join(posix.dirname(path), target));
      // a declaration file imports ./x.ts for ./x.d.ts
      const missing = targets.filter(
        (target) => !files.includes(path.endsWith('.d.ts') ? target.replace(/\.ts$/, '.d.ts') : target),
      );
      return [...missing, ...(text.match(/sourceMappingURL=.*/g) ?? [])].map((target) => `${path}: ${target}`);
    });
    expect(lost).toEqual([]);
  });
});

describe('the installed package', () => {
  it('imports every entry point, leaving no timer, handle, listener or global behind', async () => {
    const { code, stdout, stderr } = await consumer.node('import-all-entry-points.js');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { names, before, after, last } = JSON.parse(stdout);
    expect(Object.keys(names).sort()).toEqual(entryPoints.filter((entryPoint) => entryPoint !== './package.json').sort());
    expect(Object.values(names).every((list) => Array.isArray(list) && list.length > 0)).toBe(true);
    expect(after).toEqual(before);
    expect(last).toEqual(before);
  });

  it.each([
    'dist/status/sync/sync-worker.js',
    'dist/index.js',
    'src/index.ts',
    'status',
  ])('refuses an import of %s', async (path) => {
    const { code, stderr } = await consumer.node('-e', `import('pod-status-manager/${path}')`);
    expect(code).toBe(1);
    expect(stderr).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });

  it('can be loaded with require, from CommonJS', async () => {
    const { code, stdout, stderr } = await consumer.node(
      '--input-type=commonjs',
      '-p',
      "typeof require('pod-status-manager').StatusManager",
    );
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'function\n', stderr: '' });
  });
});

describe('the public API', () => {
  it('matches test/package/api-report.md, which `npm run api-report` writes', () => {
    expect(splitReport(read('test/package/api-report.md')).api).toBe(`${apiReport(consumer.packageFolder)}\n`);
  });

  it('has the sizes that test/package/api-report.md says, to 5 %', async () => {
    const [reported, measured] = [splitReport(read('test/package/api-report.md')).sizes, await sizesSection(root)];
    expect(sizesAgree(reported, measured) ? measured : reported).toBe(measured);
  });

  it('contains no any', () => {
    const withoutTexts = apiReport(consumer.packageFolder).replace(/'[^'\n]*'/g, "''");
    expect(withoutTexts.match(/.*\bany\b.*/g)).toBeNull();
  });
});

describe("a user's code against the installed types", () => {
  it('passes the compiler: the fixture, every example and every code fence', async () => {
    expect(await consumer.typeErrors(strictOptions)).toEqual([]);
  });

  it('passes with a bundler too, and with loose settings', async () => {
    const loose = { ...strictOptions, module: 'esnext', moduleResolution: 'bundler', exactOptionalPropertyTypes: false };
    expect(await consumer.typeErrors({ ...loose, noUncheckedIndexedAccess: false })).toEqual([]);
  });
});

describe('the examples', together, () => {
  it('exist, and import only the library', () => {
    expect(examples.length).toBeGreaterThan(0);
    expect(examples.filter((name) => /from '\.\.?\//.test(read(`examples/${name}`)))).toEqual([]);
  });

  it.each(examples.filter((name) => name !== endless))('%s runs and ends by itself', async (name) => {
    const { code, stdout, stderr } = await consumer.node(`examples/${name}`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toBe('');
  });

  it("of a test by Node's own runner passes", async () => {
    const { code, stdout } = await consumer.node('--test', 'examples/testing/with-node-test.ts');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/pass 2\b[\s\S]*fail 0\b/) });
  });
});

describe.runIf(fences.length > 0)('the code in the documents', together, () => {
  it.each(fences.filter(({ runs }) => runs))('$name runs and ends by itself', async ({ fileName }) => {
    const { code, stderr } = await consumer.node(fileName);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});

describe("the guide's own logger", () => {
  it('prints what the provider said, and of which pod', async () => {
    const fence = fences.find(
      ({ document, code }) => document === 'docs/guides/logs-and-errors.md' && code.includes('logFields('),
    );
    const { code, stdout, stderr } = await consumer.node(fence?.fileName ?? 'no such fence');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.split('\n').filter((line) => line !== '');
    const failures = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'warn');
    expect(failures[0]).toMatchObject({
      ...{ message: 'the provider failed; it is called again later', err: { message: 'cloud: quota exceeded' } },
      ...{ podName: 'web', podNamespace: 'default', podUID: expect.any(String), method: 'createPod', attempt: 1 },
    });
  });
});

describe.runIf(commentedFiles.length > 0)('the examples in the doc comments', together, () => {
  // One process for a file: most examples take less time than Node takes to start. A comment behind a console.log says what it prints.
  it.each(commentedFiles)('of %s run one after the other, and leave nothing behind', async (path) => {
    const own = commentFences.filter(({ document, runs }) => runs && document === path);
    const steps = own.map(({ name, fileName }) => `at = '${name}'; await import('./${fileName}');`);
    const script = `let at; process.on('exit', (code) => { if (code) console.error(at); }); ${steps.join(' ')}`;
    const prints = own.flatMap(({ code }) => [...code.matchAll(/^.*console\.log\(.*?(?:\/\/ (.*))?$/gm)].map(([, said]) => said));
    const { code, stdout, stderr } = await consumer.node('--input-type=module', '-e', script);
    expect({ code, stderr, prints: stdout.split('\n').slice(0, -1) }).toEqual({ code: 0, stderr: '', prints });
  });
});

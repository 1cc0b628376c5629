import { describe, expect, it } from 'vitest';
import { readTree, type SourceFile } from './source-tree.ts';

interface Rule {
  readonly says: string;
  /** No line of code may match this. */
  readonly forbids: RegExp;
  /** True: comments are checked too. */
  readonly inComments?: boolean;
  readonly appliesTo: (path: string) => boolean;
  /** Code that breaks the rule, to test the rule itself. */
  readonly broken: string;
}

const everywhere = (): boolean => true;
const rules: readonly Rule[] = [
  {
    says: 'time goes through Clock',
    forbids: /\b(?:Date\.now|new Date\(\s*\)|performance\.now|process\.hrtime|AbortSignal\.timeout)/,
    appliesTo: (path) => path !== 'src/base/clock.ts',
    broken: 'const now = new Date();',
  },
  {
    says: 'waits go through Clock',
    forbids: /\bset(?:Timeout|Interval)\b/,
    appliesTo: (path) => path !== 'src/base/clock.ts',
    broken: "import { setTimeout as sleep } from 'node:timers/promises';",
  },
  {
    says: 'signals are listened to in one place, which also lets go of them',
    forbids: /\.addEventListener\('abort'|\bPromise\.race\(|\bAbortSignal\.any\(/,
    appliesTo: (path) => !['src/base/concurrency/aborts.ts', 'src/base/clock.ts'].includes(path),
    broken: "signal.addEventListener('abort', giveUp, { once: true });",
  },
  {
    says: 'the n-th delay is worked out in one place',
    forbids: /\* (?:2|[\w.]*[fF]actor) \*\* (?!\d)/,
    appliesTo: (path) => path !== 'src/base/concurrency/backoff.ts',
    broken: 'const waitMs = Math.min(longestMs, firstMs * 2 ** failures);',
  },
  {
    says: 'no delay grows by itself',
    forbids: /[mM]s \* 2\b|[mM]s \*= /,
    appliesTo: everywhere,
    broken: 'waitMs = Math.min(longestMs, waitMs * 2);',
  },
  {
    says: 'folders are made where a disk that is read-only is told as one',
    forbids: /\bmkdir(?:Sync)?\(.*recursive: true/,
    // a fake is on a floor of its own
    appliesTo: (path) => path !== 'src/node/files/make-folders.ts' && !path.startsWith('src/testing/'),
    broken: 'await mkdir(folder, { recursive: true, mode: 0o750 });',
  },
  {
    says: 'there is no mutable state of a module',
    forbids: /^(?:export )?(?:let|var)\b|^(?:export )?const \w+(?:: [^=]+)? = new (?:Map|Set|WeakMap|WeakSet)\b[^;]*\(\s*\)/,
    appliesTo: everywhere,
    broken: 'const cache = new Map<string, Pod>();',
  },
  {
    says: 'the status cache changes without await',
    forbids: /\b(?:async|await|Promise)\b|\.then\(/,
    appliesTo: (path) => path === 'src/status/status-cache.ts',
    broken: 'await settled;',
  },
  {
    says: 'unfinished work is an issue, not a comment',
    forbids: /\b(?:TODO|FIXME|XXX|HACK)\b/,
    inComments: true,
    appliesTo: everywhere,
    broken: '// TODO: later',
  },
  {
    says: 'the compiler and the linter are not silenced',
    forbids: /@ts-(?:ignore|expect-error|nocheck)|biome-ignore(?:-\w+)? (?!format)/,
    inComments: true,
    appliesTo: everywhere,
    broken: '// @ts-ignore',
  },
  {
    says: 'public names are listed by hand',
    forbids: /^export \*/,
    appliesTo: everywhere,
    broken: "export * from './pod.ts';",
  },
  {
    says: 'objects are composed, and only errors are extended',
    forbids: /\bclass \w+(?:<.*>)? extends (?!\w*Error\b)/,
    appliesTo: everywhere,
    broken: 'export class StatusManager extends Emitter<Events> {',
  },
  {
    says: 'no any',
    forbids: /(?:[:<|&,(]|\bas)\s*any\b(?!')/,
    appliesTo: everywhere,
    broken: 'const pod = answer as any;',
  },
];

const helperThatPolls = 'test/support/until.ts';
/** What holds for the tests of `npm test`: each run does the same, and takes no longer than its work. */
const testRules: readonly Rule[] = [
  {
    says: 'what is awaited is an event',
    forbids: /\bvi\.wait|(?<!')\bsetTimeout\b(?!')/,
    appliesTo: (path) => path.startsWith('test/unit/'),
    broken: 'await vi.waitUntil(() => asked.length > 0);',
  },
  {
    says: 'what nobody tells of is awaited without a timer',
    forbids: /\bexpect\s*\.poll\b|^\s*\.poll\(/,
    appliesTo: (path) => path.startsWith('test/unit/'),
    broken: 'await expect.poll(() => asked.length).toBe(1);',
  },
  {
    says: `only ${helperThatPolls} polls`,
    forbids: /^\s*(?:export )?(?:async )?function until\b|\blimit = Date\.now\(\)/,
    appliesTo: (path) => path !== helperThatPolls,
    broken: 'const limit = Date.now() + 20_000;',
  },
  {
    says: 'seeds are fixed',
    forbids: /\bDate\.now\(\) %/,
    appliesTo: everywhere,
    broken: 'const first = Date.now() % 2 ** 31;',
  },
];

const longest = 400;

function breaks(rule: Rule, { path, text, code }: SourceFile): string[] {
  const lines = (rule.inComments ? text : code).split('\n');
  return lines.flatMap((line, index) => (rule.forbids.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : []));
}

function tooLong(files: readonly SourceFile[]): { path: string; lines: number }[] {
  const lengths = files.map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }));
  return lengths.filter(({ lines }) => lines > longest);
}

function expectFound(rule: Rule): void {
  const file = { path: 'src/broken.ts', text: rule.broken, code: rule.broken, imports: [] };
  expect(breaks(rule, file)).toEqual([`src/broken.ts:1: ${rule.broken}`]);
}

describe('the rules of src', () => {
  // made by `npm run build:page` and `npm run build:cri`; the rules hold for what they are made from
  const made = /^src\/observe\/debug\/page\/page\.ts$|_pb\.ts$/;
  const files = readTree('src').filter(({ path }) => !made.test(path));

  it.each(rules.map((rule) => [rule.says, rule] as const))('%s', (_, rule) => {
    const subject = files.filter(({ path }) => rule.appliesTo(path));
    expect(subject.length).toBeGreaterThan(0);
    expect(subject.flatMap((file) => breaks(rule, file))).toEqual([]);
  });

  it.each(rules.map((rule) => [rule.broken, rule] as const))('find broken code: %s', (_, rule) => {
    expectFound(rule);
  });

  it(`keep every file within ${longest} lines`, () => {
    expect(tooLong(files)).toEqual([]);
  });
});

describe('the rules of the tests', () => {
  const files = ['test/unit', 'test/support', 'test/random/simulation'].flatMap(readTree);

  it.each(testRules.map((rule) => [rule.says, rule] as const))('%s', (_, rule) => {
    const subject = files.filter(({ path }) => rule.appliesTo(path));
    expect(subject.length).toBeGreaterThan(0);
    expect(subject.flatMap((file) => breaks(rule, file))).toEqual([]);
  });

  it.each(testRules.map((rule) => [rule.broken, rule] as const))('find broken code: %s', (_, rule) => {
    expectFound(rule);
  });

  it(`keep every file of a unit test within ${longest} lines`, () => {
    expect(tooLong(files.filter(({ path }) => path.startsWith('test/unit/')))).toEqual([]);
    const text = '\n'.repeat(longest + 1);
    expect(tooLong([{ path: 'long.ts', text, code: text, imports: [] }])).toEqual([{ path: 'long.ts', lines: longest + 1 }]);
  });
});

/** The methods that a stop forbids and whose comments, or that of their class, do not say so. */
function silentAboutStop({ path, text }: SourceFile): string[] {
  const ofClass = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\nexport class/.exec(text)?.[0] ?? '';
  const names = [...text.matchAll(/assertNotStopped\('(\w+)'\)/g)].map(([, name = '']) => name);
  const isSaid = (name: string): boolean => {
    const comment = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\n  (?:async )?${name}\\(`).exec(text)?.[1] ?? '';
    return [comment, ofClass].some((words) => words.includes('ERR_STOPPED'));
  };
  return names.filter((name) => !isSaid(name)).map((name) => `${path}: ${name}`);
}

describe('a method that a stop forbids', () => {
  it('names ERR_STOPPED in its comment', () => {
    const files = readTree('src');
    expect(files.filter(({ text }) => text.includes('assertNotStopped(')).length).toBeGreaterThan(5);
    expect(files.flatMap(silentAboutStop)).toEqual([]);
  });

  it('is seen when it does not', () => {
    const method = (name: string, comment: string) =>
      `  /** ${comment} */\n  ${name}(): void {\n    state.assertNotStopped('${name}');\n  }`;
    const text = ['/** A part. */\nexport class Part {', method('a', 'Throws ERR_STOPPED.'), method('b', 'Does it.'), '}'].join(
      '\n',
    );
    expect(silentAboutStop({ path: 'src/part.ts', text, code: text, imports: [] })).toEqual(['src/part.ts: b']);
  });
});

import { describe, expect, it } from 'vitest';
import { codeFencesOf, commentsOf } from './code-fences.ts';

const fence = (info: string, ...lines: string[]): string => [`\`\`\`${info}`, ...lines, '```'].join('\n');

describe('codeFencesOf', () => {
  it('finds every TypeScript fence, and no other', () => {
    const markdown = [
      '# Title',
      fence('ts', 'one();'),
      fence('sh', 'npm test'),
      fence('typescript no-run', 'two();'),
      fence('tsx', 'three'),
    ].join('\n\n');
    expect(codeFencesOf('docs/use.md', markdown)).toEqual([
      { name: 'docs/use.md:4', document: 'docs/use.md', fileName: 'docs-use-4.ts', code: '\n\n\none();\n', runs: true },
      {
        name: 'docs/use.md:12',
        document: 'docs/use.md',
        fileName: 'docs-use-12.ts',
        code: `${'\n'.repeat(11)}two();\n`,
        runs: false,
      },
    ]);
  });

  it('puts the earlier code before a continued fence, and keeps every line number', () => {
    const markdown = [fence('ts', 'const a = 1;'), '', fence('ts continued', 'a;'), fence('ts', 'b;')].join('\n');
    expect(codeFencesOf('README.md', markdown).map(({ code }) => code)).toEqual([
      '\nconst a = 1;\n',
      '\nconst a = 1;\n\n\n\na;\n',
      `${'\n'.repeat(8)}b;\n`,
    ]);
  });

  it('puts a server around a fence that asks for one, on no line of its own', () => {
    const [found] = codeFencesOf('README.md', ['', fence('ts with-server', 'kubeConfig;')].join('\n'));
    const lines = found?.code.split('\n') ?? [];
    expect(lines[0]).toMatch(/^import .* const kubeConfig = server\.kubeConfig\(\);$/);
    expect(lines.slice(1)).toEqual(['', 'kubeConfig;', 'await server.stop();', '']);
  });

  it('refuses an unknown word', () => {
    expect(() => codeFencesOf('README.md', fence('ts norun', 'a;'))).toThrow('README.md:1: a ts fence says `norun`');
  });
});

describe('commentsOf', () => {
  it('gives the doc comments as Markdown on their own lines, and nothing else', () => {
    const source = ['/** One. */', 'const a = `* no`;', '/**', ' * Two:', ' *', ' *     code', ' */', 'a * b; // not'].join('\n');
    expect(commentsOf(source).split('\n')).toEqual(['One.', '', '', 'Two:', '', '    code', '', '']);
  });
});

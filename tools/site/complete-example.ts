import { serverAround } from '../../test/package/code-fences.ts';

/** The example as the tests run it: a `with-server` fence is shown with the lines that start and stop its apiserver. */
export function completeExample(fence: string): string {
  const [first = '', ...lines] = fence.split('\n');
  if (!/^```ts\b.*\bwith-server\b/.test(first)) return fence.replace(/^```(\w+)[^\n]*/, '```$1');
  const code = lines.slice(0, lines.lastIndexOf('```'));
  const afterImports = code.findLastIndex((line) => / from '[^']+';$/.test(line)) + 1;
  const [importOfServer = '', ...start] = serverAround.before;
  const rest = code.slice(afterImports).join('\n').trimStart();
  return ['```ts', ...code.slice(0, afterImports), importOfServer, '', ...start, rest, ...serverAround.after, '```'].join('\n');
}

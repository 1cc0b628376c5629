import { expect, it } from 'vitest';
import { completeExample } from '../../../tools/site/complete-example.ts';

it('an example that needs a server is shown with the lines that start and stop one', () => {
  const fence = ['```ts with-server', "import { a } from 'pod-status-manager';", '', 'a(kubeConfig);', '```'].join('\n');
  expect(completeExample(fence).split('\n')).toEqual([
    '```ts',
    "import { a } from 'pod-status-manager';",
    "import { InMemoryApiServer } from 'pod-status-manager/testing';",
    '',
    'const server = await InMemoryApiServer.start();',
    'const kubeConfig = server.kubeConfig();',
    'a(kubeConfig);',
    'await server.stop();',
    '```',
  ]);
});

it('any other example stays as it is', () => {
  expect(completeExample('```ts no-run\na();\n```')).toBe('```ts\na();\n```');
});

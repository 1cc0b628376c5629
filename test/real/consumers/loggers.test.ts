import { readFileSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { consumerAt } from '../../package/consumer.ts';
import { root } from '../../structure/source-tree.ts';
import { nodeOf, toolPath } from './tools.ts';

const consumer = consumerAt(inject('consumerFolder'));
const folder = 'loggers';
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const fences = [...read('docs/guides/logs-and-errors.md').matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);

/** The lines that a logger of the guide prints of a node whose provider fails. */
async function linesOf(library: string): Promise<Record<string, unknown>[]> {
  const code = fences.find((fence) => fence.includes(`from '${library}'`));
  const program = [
    code,
    "const { runFailingProvider } = await import('./failing-provider.js');",
    'await runFailingProvider(logger);',
  ];
  await consumer.write(join(folder, `${library}.js`), program.join('\n'));
  const { code: exitCode, stdout, stderr } = await consumer.run(nodeOf(24), [`${library}.js`], folder);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

beforeAll(async () => {
  await consumer.write(join(folder, 'failing-provider.js'), read('test/real/consumers/fixture/failing-provider.js'));
  for (const library of ['pino', 'winston']) {
    await consumer.write(join(folder, 'node_modules', '.keep'), '');
    await symlink(toolPath(library), join(consumer.folder, folder, 'node_modules', library), 'dir');
  }
});

const warning = 'the provider failed; it is called again later';
const fields = {
  err: { message: 'cloud: quota exceeded', code: 'QUOTA', cause: { message: 'http 429' } },
  ...{ podName: 'web', podNamespace: 'default', podUID: expect.any(String), method: 'createPod', attempt: 1 },
};

describe("the guide's logger", () => {
  it('pino prints what the provider said and of which pod, and nothing of the request', async () => {
    const lines = await linesOf('pino');
    const line = lines.find(({ msg }) => msg === warning);
    expect(line).toMatchObject({ level: 40, msg: warning, ...fields });
    expect(line?.err).toEqual(fields.err);
  });

  it('winston prints what the provider said and of which pod, and nothing of the request', async () => {
    const lines = await linesOf('winston');
    const line = lines.find(({ message }) => message === warning);
    expect(line).toMatchObject({ level: 'warn', message: warning, ...fields });
    expect(line?.err).toEqual(fields.err);
    expect(lines.filter(({ level }) => level === 'debug')).toEqual([]);
  });

  it('shows each library once', () => {
    expect(fences.map((fence) => /from '(pino|winston)'/.exec(fence)?.[1])).toEqual(['pino', 'winston']);
  });
});

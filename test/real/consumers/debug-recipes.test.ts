import { readFileSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { consumerAt } from '../../package/consumer.ts';
import { root } from '../../structure/source-tree.ts';
import { nodeOf, toolPath } from './tools.ts';

interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly login?: string;
  readonly begins: string;
}
type Answers = Readonly<Record<'page' | 'json' | 'stream', Answer>>;
interface Tried {
  readonly without: Answers;
  readonly wrong: Answers;
  readonly right: Answers;
  /** What was answered without a login at other ways to write the address. */
  readonly opened: readonly unknown[];
  readonly beside: Answer;
}
type Results = Readonly<Record<'fastify' | 'express' | 'middieBeforeHook' | 'expressBeforeCheck', Tried>> & {
  readonly noPassword: readonly string[];
};

const consumer = consumerAt(inject('consumerFolder'));
const guide = readFileSync(join(root, 'docs/guides/debug.md'), 'utf8');
/** The programs of the guide, by the name in their first line. */
const recipes = [...guide.matchAll(/^```js\n(\/\/ (\S+\.js)\n[\s\S]*?)^```$/gm)].map(([, code = '', name = '']) => ({
  name,
  code,
}));
let results: Results;

beforeAll(async () => {
  const folder = 'debug-recipes';
  for (const { name, code } of recipes) await consumer.write(join(folder, name), code);
  await consumer.write(join(folder, 'main.js'), readFileSync(join(root, 'test/real/consumers/fixture/debug-recipes.js'), 'utf8'));
  for (const name of ['fastify', 'express', '@fastify/middie']) {
    const link = join(consumer.folder, folder, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(toolPath(...name.split('/')), link);
  }
  const { code, stdout, stderr } = await consumer.run(nodeOf(24), ['main.js'], folder);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  results = JSON.parse(stdout);
});

it('the guide has a program for each of them', () => {
  expect(recipes.map(({ name }) => name)).toEqual(['debug-login.js', 'debug-with-fastify.js', 'debug-with-express.js']);
});

describe.each(['fastify', 'express'] as const)('the debug page in %s, as the guide serves it', (kind) => {
  it.each(['without', 'wrong'] as const)('gives nothing to who comes with a login that is %s', (login) => {
    const refusal = { status: 401, login: 'Basic realm="debug"', begins: 'This page needs a login.' };
    expect(results[kind][login]).toMatchObject({ page: refusal, json: refusal, stream: refusal });
  });

  it('gives page, JSON and stream to who has logged in', () => {
    expect(results[kind].right).toMatchObject({
      page: { status: 200, type: 'text/html', begins: expect.stringMatching(/^<!doctype html>/i) },
      json: { status: 200, type: 'application/json', begins: expect.stringMatching(/^\{/) },
      stream: { status: 200, type: 'text/event-stream' },
    });
  });

  it('is found by no other way to write its address', () => {
    expect(results[kind].opened).toEqual([]);
  });

  it('leaves the rest of the server as it is', () => {
    expect(results[kind].beside).toMatchObject({ status: 200, begins: 'public' });
  });
});

it('a hook added after a middleware of middie, and a check below the handler in Express, protect nothing, as the guide says', () => {
  for (const { without } of [results.middieBeforeHook, results.expressBeforeCheck]) {
    expect(without).toMatchObject({ page: { status: 200 }, json: { status: 200 }, stream: { status: 200 } });
  }
});

it('no password lets nobody in', () => {
  expect(results.noPassword).toEqual(Array(2).fill('the debug page needs a password'));
});

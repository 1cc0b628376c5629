import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { tempDir } from '../support/temp-dir.ts';
import { falsifications, falsified } from './falsify/falsifications.ts';
import { readCases } from './replay/read-cases.ts';
import type { Scenario } from './replay/replay-scenario.ts';

const recorded = readCases(fileURLToPath(new URL('scenarios-public.jsonl.gz', import.meta.url))).scenarios;
const cli = fileURLToPath(new URL('cli.ts', import.meta.url));

async function fileOf(name: string, ...scenarios: unknown[]): Promise<string> {
  const file = join(await tempDir(), name);
  writeFileSync(file, scenarios.map((scenario) => JSON.stringify(scenario)).join('\n'));
  return file;
}

function conformance(...files: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [cli, ...files], { maxBuffer: 2 ** 26 }, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, out, err });
    });
  });
}

function first(): Scenario {
  const scenario = recorded[0];
  if (scenario === undefined) throw new Error('nothing is recorded');
  return scenario;
}

describe('npm run conformance', () => {
  it('ends with 0 where ours agrees with what was recorded', async () => {
    const { code, out, err } = await conformance(await fileOf('true.jsonl', first()));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.match(/ 0 differences/g)).toHaveLength(4);
  });

  it('ends with 1, and says where, when one expectation of one file is false', async () => {
    const lie = falsifications(first()).find(({ kind, place }) => kind === 'podIP' && place === 'cache');
    if (lie === undefined) throw new Error('there is nothing to lie about');
    const { code, out } = await conformance(
      await fileOf('false.jsonl', falsified(first(), lie)),
      await fileOf('true.jsonl', first()),
    );
    expect(code).toBe(1);
    expect(out).toContain(`scenario ${first().name}, step ${lie.step}`);
  });

  it('plays cases that name their kind, and ends with 1 where one of them is false', async () => {
    const pod = { metadata: { name: 'p', namespace: 'd', uid: 'u' }, spec: { volumes: [{ secret: { secretName: 's' } }] } };
    const named = { kind: 'refNames', name: 'one', pod, out: { configMaps: [], secrets: ['s'] } };
    const agreeing = await conformance(await fileOf('named.jsonl', named));
    expect(agreeing).toMatchObject({ code: 0, err: '' });
    expect(agreeing.out).toContain('1 cases, 0 differences');
    const lie = { ...named, name: 'two', out: { configMaps: [], secrets: ['other'] } };
    const { code, out } = await conformance(await fileOf('false.jsonl', named, lie));
    expect(code).toBe(1);
    expect(out).toContain('2 cases, 1 differences');
    expect(out).toContain('case two');
  });

  it('ends with 2 for a file that it cannot play, before it plays any', async () => {
    const broken = await fileOf('broken.jsonl', { ...first(), steps: [{ op: 'explode', expect: {} }] });
    const { code, out, err } = await conformance(await fileOf('true.jsonl', first()), broken);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(`${broken}:1: step 0 names an unknown op: "explode"`);
  });

  it('ends with 2 without a file', async () => {
    expect((await conformance()).code).toBe(2);
  });
});

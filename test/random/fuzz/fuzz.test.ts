import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../../structure/source-tree.ts';
import { Prng } from '../chaos/prng.ts';
import { http1Answer } from './http1-answers.ts';
import { http2Answer } from './http2-answers.ts';
import { requestOf } from './requests.ts';

/** A process of its own, with little memory: a client that holds what it must not ends it. */
function fuzz(...args: readonly string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const command = ['--max-old-space-size=384', join(root, 'test/random/fuzz/main.ts'), ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, command, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? error?.signal ?? 0, stdout, stderr }),
    );
  });
}

it('a client lives through a thousand answers of servers that are broken or hostile, and says what was wrong', async () => {
  const { code, stdout, stderr } = await fuzz('--exchanges', '1000', '--seed', '1');
  expect({ code, stderr, stdout }).toEqual({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(/^seed 1: 1000 exchanges, .*, 0 faults\n$/),
  });
});

it('the servers live through a thousand requests of clients that are broken or hostile, and refuse strangers', async () => {
  const { code, stdout, stderr } = await fuzz('servers', '--exchanges', '1000', '--seed', '1');
  expect({ code, stderr, stdout }).toEqual({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(/^seed 1: 1000 exchanges, .*, 0 faults\n$/),
  });
});

it('a seed gives the same requests again', () => {
  const shown = (seed: number): string[] =>
    Array.from({ length: 40 }, (_, number) => {
      const request = requestOf(new Prng(seed, number));
      return request.isLarge ? request.name : `${request.name} ${Buffer.concat([...request.bytes()]).toString('base64')}`;
    });
  expect(shown(7)).toEqual(shown(7));
  expect(shown(7)).not.toEqual(shown(8));
});

it('a seed gives the same answers again', () => {
  const shown = (seed: number): string[] =>
    Array.from({ length: 20 }, (_, number) => {
      const prng = new Prng(seed, number);
      const answer = number % 3 === 0 ? http2Answer(prng, 'watch') : http1Answer(prng, number % 3 === 1 ? 'list' : 'get');
      return answer.isLarge ? answer.name : `${answer.name} ${Buffer.concat([...answer.bytes()]).toString('base64')}`;
    });
  expect(shown(7)).toEqual(shown(7));
  expect(shown(7)).not.toEqual(shown(8));
});

import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { TokenFile } from '../../../../src/client/credentials/kube-credentials.ts';
import { failureOf } from '../transport/scripted-server.ts';
import { scratch } from './shell-plugin.ts';

describe('TokenFile', () => {
  it.each(['secret', 'secret\n', 'secret\r\n', ' secret \n\n'])('takes the token of %j', async (text) => {
    using files = scratch();
    const source = new TokenFile(files.write('token', text));
    expect(await source.get()).toEqual({ authorization: 'Bearer secret' });
  });

  it('reads the file for every request', async () => {
    using files = scratch();
    const source = new TokenFile(files.write('token', 'first'));
    await source.get();
    files.write('token', 'second');
    expect(await source.get()).toEqual({ authorization: 'Bearer second' });
  });

  it('gives the same object while the file holds the same token', async () => {
    using files = scratch();
    const source = new TokenFile(files.write('token', 'first'));
    const first = await source.get();
    files.write('token', 'first\n');
    expect(await source.get()).toBe(first);
  });

  it('gives what the file held last while it cannot be read, and before that the spare token', async () => {
    using files = scratch();
    const source = new TokenFile(files.path('token'), 'spare');
    const spare = await source.get();
    expect(spare).toEqual({ authorization: 'Bearer spare' });
    expect(await source.get()).toBe(spare);
    for (const [text, token] of [
      ['first', 'first'],
      ['', 'first'],
      ['x'.repeat(1024 * 1024 + 1), 'first'],
      ['second', 'second'],
    ] as const) {
      files.write('token', text);
      expect(await source.get()).toEqual({ authorization: `Bearer ${token}` });
    }
  });

  it('reads no pipe, which could hold up the process, and at most 1 MiB', async () => {
    using files = scratch();
    execFileSync('mkfifo', [files.path('pipe')]);
    expect(await failureOf(new TokenFile(files.path('pipe')).get())).toMatchObject({
      message: expect.stringContaining('EFTYPE'),
    });
    const long = files.write('long', 'x'.repeat(1024 * 1024 + 1));
    expect(await failureOf(new TokenFile(long).get())).toMatchObject({ message: expect.stringContaining('EFBIG') });
  });

  it('does not quote a path that may be a token', async () => {
    const failure = await failureOf(new TokenFile('sesame'.repeat(100)).get());
    expect(failure).toMatchObject({ message: expect.stringContaining('(a text of 600 characters that looks like no path)') });
  });

  it.each([
    ['is empty', '\n', 'is empty'],
    ['is not there', undefined, 'could not be read (Error ENOENT)'],
  ])('names a file that %s', async (_what, text, message) => {
    using files = scratch();
    const path = files.path('token');
    if (text !== undefined) files.write('token', text);
    expect(await failureOf(new TokenFile(path).get())).toMatchObject({
      reason: 'NoCredentials',
      message: `The token file ${JSON.stringify(path)} ${message}`,
    });
  });
});

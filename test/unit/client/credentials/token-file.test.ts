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

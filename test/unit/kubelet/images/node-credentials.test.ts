import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ImagePuller } from '../../../../src/kubelet/images/image-puller.ts';
import { NodeCredentials } from '../../../../src/kubelet/images/node-credentials.ts';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { FakeRuntime } from '../../../../src/testing/runtime/fake-runtime.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const config = (username: string, place = 'quay.io') =>
  JSON.stringify({ auths: { [place]: { username, password: 'topsecret' } } });

async function nodeWithFiles() {
  const [folder, clock, log] = [await tempDir(), new FakeClock(), recordedLines()];
  const files = ['config.json', '.dockercfg', 'last.json'].map((name) => join(folder, name));
  const credentials = new NodeCredentials({ files, clock, logger: log.logger });
  const users = async (repository = 'quay.io/team/app') =>
    (await credentials.for(repository)).map(({ auth }) => ('username' in auth ? auth.username : ''));
  return { clock, log, credentials, users, write: (name: string, text: string) => writeFile(join(folder, name), text), folder };
}

describe('the credentials of a node', () => {
  it('are those of the first file that has some, for the places that it names', async () => {
    const node = await nodeWithFiles();
    await node.write('config.json', '{"port": 1}');
    await node.write('.dockercfg', JSON.stringify({ 'quay.io': { auth: Buffer.from('old:p').toString('base64') } }));
    await node.write('last.json', config('last'));
    expect([await node.users(), await node.users('docker.io/library/app')]).toEqual([['old'], []]);
    expect(node.log.lines).toEqual([]);
  });

  it('are read again after five minutes', async () => {
    const node = await nodeWithFiles();
    await node.write('config.json', config('first'));
    expect(await node.users()).toEqual(['first']);
    await node.write('config.json', config('second'));
    await node.clock.advance(299_000);
    expect(await node.users()).toEqual(['first']);
    await node.clock.advance(1000);
    expect(await node.users()).toEqual(['second']);
    await rm(join(node.folder, 'config.json'));
    await node.clock.advance(300_000);
    expect(await node.users()).toEqual([]);
  });

  it.each([
    ['noise', '{topsecret'],
    ['a list', '["topsecret"]'],
    ['an auth that is none', JSON.stringify({ auths: { 'quay.io': { auth: Buffer.from('topsecret').toString('base64') } } })],
    ['more than a mebibyte', `{"auths":{"quay.io":{"password":"topsecret${'x'.repeat(1_100_000)}"}}}`],
    [
      'more places than anybody has',
      JSON.stringify({ auths: Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`r${n}.io`, {}])) }),
    ],
  ])('with %s are looked for in the next file, and the log names the file alone, once', async (_name, text) => {
    const node = await nodeWithFiles();
    await node.write('config.json', text);
    await node.write('last.json', config('last'));
    expect(await node.users()).toEqual(['last']);
    await node.clock.advance(300_000);
    expect(await node.users()).toEqual(['last']);
    expect(node.log.of('warn')).toEqual(['a file of registry credentials cannot be used']);
    expect(inspect([node.log.lines, node.credentials], { depth: 9, showHidden: true })).not.toContain('topsecret');
  });

  it('are tried after those of the pod, and what they pull is there for every pod', async () => {
    const node = await nodeWithFiles();
    await node.write('config.json', config('node'));
    const runtime = new FakeRuntime({ clock: node.clock });
    const used: unknown[] = [];
    const pullImage: FakeRuntime['pullImage'] = (image, options) => {
      used.push((options?.auth as { username?: string } | undefined)?.username);
      if (used.length === 1) throw new Error('401');
      return runtime.pullImage(image, options);
    };
    const puller = new ImagePuller({
      runtime: { imageStatus: (image, call) => runtime.imageStatus(image, call), pullImage },
      recordsDirectory: undefined,
      maxParallelImagePulls: 5,
      nodeCredentials: node.credentials,
      credentialVerification: 'AlwaysVerify',
      eventRecorder: { event: () => {} },
      clock: node.clock,
      logger: node.log.logger,
    });
    const data = { '.dockerconfigjson': Buffer.from(config('pod')).toString('base64') };
    const secret = { metadata: { name: 's', namespace: 'default', uid: 'u' }, type: 'kubernetes.io/dockerconfigjson', data };
    const container = { name: 'app', image: 'quay.io/team/app:1', imagePullPolicy: 'IfNotPresent' };
    const { signal } = new AbortController();
    const request = (uid: string) => ({
      pod: buildPod({ metadata: { uid } }),
      container,
      pullSecrets: uid === 'a' ? [secret] : [],
    });
    await puller.ensureImage(request('a'), signal);
    expect(used).toEqual(['pod', 'node']);
    await puller.ensureImage(request('b'), signal);
    expect(used).toHaveLength(2);
  });
});

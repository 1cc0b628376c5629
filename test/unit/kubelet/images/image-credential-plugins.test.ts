import { readFile } from 'node:fs/promises';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { metricsOption } from '../../../../src/base/metrics/metrics.ts';
import { readImageCredentialConfig } from '../../../../src/kubelet/images/image-credential-config.ts';
import type { ServiceAccountSource } from '../../../../src/kubelet/images/image-credential-plugin.ts';
import { ImageCredentialPlugins } from '../../../../src/kubelet/images/image-credential-plugins.ts';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { MetricsRecorder } from '../../../support/metrics-recorder.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { until } from '../../../support/until.ts';
import { answerText, answerVersion, pluginFolder, providerNamed } from './plugin-folder.ts';

const never = new AbortController().signal;
const image = 'registry.example.com/team/app';
const podOf = (uid: string, serviceAccountName?: string) =>
  buildPod({
    metadata: { uid, name: uid, namespace: 'shop' },
    spec: { containers: [], ...(serviceAccountName && { serviceAccountName }) },
  });

async function nodeWith(providers: readonly object[], scripts: Readonly<Record<string, string>>) {
  const [folder, clock, log] = [await pluginFolder(), new FakeClock(), recordedLines()];
  for (const [name, script] of Object.entries(scripts)) await folder.plugin(name, script);
  await folder.configure(providers);
  const annotations: Record<string, string> = { role: 'puller', zone: 'a', other: 'untold' };
  let token = 'a-secret-token';
  const accounts: ServiceAccountSource = {
    account: async (_namespace, name) => {
      if (name === 'gone') throw new Error('serviceaccounts "gone" not found');
      return { uid: `uid-of-${name}`, annotations };
    },
    token: async ({ metadata }, _account, audience) => `${token} of ${metadata?.name} for ${audience}`,
  };
  const { config, binDir } = folder;
  const recorder = new MetricsRecorder();
  const metrics = metricsOption(recorder);
  const plugins = new ImageCredentialPlugins({ config, binDir, accounts, clock, logger: log.logger, metrics });
  await plugins.load();
  const users = async (repository = image, pod = podOf('web')) =>
    (await plugins.for(repository, pod, never)).credentials.map(({ auth }) => auth.username);
  const renew = (): void => {
    token = 'another-secret-token';
  };
  return { ...folder, clock, log, recorder, plugins, users, annotations, renew };
}

const print = (text: string): string => `cat <<'END'\n${text}\nEND`;
const user = (username: string, more: object = {}, place = '*.example.com'): string =>
  print(answerText({ [place]: { username, password: 'pw' } }, more));

describe('a plugin for image credentials', () => {
  it('is asked with the image, its arguments and variables', async () => {
    const provider = providerNamed('one', { args: ['get', 'a b'], env: [{ name: 'REGION', value: 'eu' }] });
    const node = await nodeWith([provider], { one: `echo "$1 $2 $REGION $HOME" > $FOLDER/told\n${user('me')}` });
    expect(await node.plugins.for(image, podOf('web'), never)).toEqual({
      credentials: [{ auth: { username: 'me', password: 'pw' }, account: undefined }],
      failed: [],
    });
    expect(await node.read('told')).toBe(`get a b eu ${process.env.HOME}\n`);
    expect(await node.read('request')).toBe(
      `{"kind":"CredentialProviderRequest","apiVersion":"${answerVersion}","image":"${image}"}\n`,
    );
  });

  it('is asked only for images that it is for', async () => {
    const matchImages = ['*.example.com/team', 'example.com:5000', 'r?.example.org'.replace('?', '*')];
    const node = await nodeWith([providerNamed('one', { matchImages })], { one: user('me', {}, 'other.io') });
    const asked = async (repository: string): Promise<boolean> => {
      const before = await node.runs();
      await node.users(repository);
      return (await node.runs()) > before;
    };
    for (const yes of ['a.example.com/team/app', 'a.example.com/teams', 'example.com:5000/x', 'rq.example.org/x']) {
      expect([yes, await asked(yes)]).toEqual([yes, true]);
    }
    for (const no of [
      'example.com/team/app',
      'a.b.example.com/team',
      'a.example.com/app',
      'example.com/x',
      'example.com:5001/x',
    ]) {
      expect([no, await asked(no)]).toEqual([no, false]);
    }
  });

  it.each([
    ['Image', [1, 1, 2, 3]],
    ['Registry', [1, 1, 1, 2]],
    ['Global', [1, 1, 1, 1]],
  ])('that answers for %s is not asked again for that while its answer counts', async (cacheKeyType, runs) => {
    const node = await nodeWith([providerNamed('one')], { one: user('me', { cacheKeyType }) });
    const found: number[] = [];
    for (const repository of [image, image, 'registry.example.com/other', 'b.example.com/other']) {
      expect(await node.users(repository)).toEqual(['me']);
      found.push(await node.runs());
    }
    expect(found).toEqual(runs);
    await node.clock.advance(600_001);
    await node.users();
    expect(await node.runs()).toBe((runs.at(-1) ?? 0) + 1);
  });

  it.each([
    ['says 0', { cacheDuration: '0s' }, '10m', 0, 2],
    ['says 1 s', { cacheDuration: '1s' }, '10m', 2000, 2],
    ['says 1 h', { cacheDuration: '1h' }, '0s', 600_000, 1],
    ['says nothing, and the configuration 0', {}, '0s', 0, 2],
    ['says less than 0', { cacheDuration: '-1s' }, '10m', 0, 2],
  ])('keeps its answer as long as it says: it %s', async (_, more, defaultCacheDuration, passedMs, runs) => {
    const node = await nodeWith([providerNamed('one', { defaultCacheDuration })], { one: user('me', more) });
    await node.users();
    node.clock.jump(-86_400_000);
    await node.clock.advance(passedMs);
    expect(await node.users()).toEqual(['me']);
    expect(await node.runs()).toBe(runs);
  });

  it('is run once for all who ask for the same image meanwhile, and ends when nobody asks any more', async () => {
    const node = await nodeWith([providerNamed('one', { defaultCacheDuration: '0s' })], {
      one: `echo $$ > $FOLDER/pid; exec sleep 600`,
    });
    const stop = new AbortController();
    const asked = Promise.allSettled(['a', 'b', 'c'].map((uid) => node.plugins.for(image, podOf(uid), stop.signal)));
    await until(async () => (await node.read('pid')) !== '');
    expect(await node.runs()).toBe(1);
    const reason = new Error('gone');
    stop.abort(reason);
    expect(await asked).toEqual(Array.from({ length: 3 }, () => ({ status: 'rejected', reason })));
    const pid = (await node.read('pid')).trim();
    await until(async () => !/^State:\s+[^Z]/m.test(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')));
  });

  it('is measured each time it runs, and its configuration is named', async () => {
    const scripts = { one: user('me'), broken: print('{}'), failing: 'exit 7', waiting: 'exec sleep 600' };
    const providers = Object.keys(scripts).map((name) =>
      providerNamed(name, name === 'waiting' ? { matchImages: ['*.example.org'] } : {}),
    );
    const node = await nodeWith(providers, scripts);
    await node.users();
    await node.users();
    const stop = new AbortController();
    const waiting = node.plugins.for('a.example.org/app', podOf('web'), stop.signal);
    await until(async () => (await node.read('runs')).includes('waiting'));
    stop.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    const runs = (name: string) =>
      node.recorder.values('kubelet_credential_provider_plugin_duration', { plugin_name: name }).length;
    expect(Object.keys(scripts).map(runs)).toEqual([1, 2, 2, 0]);
    expect(node.recorder.nonZero('kubelet_credential_provider_plugin_errors_total')).toEqual({ failing: 2 });
    const { hash } = await readImageCredentialConfig(node.config, node.binDir);
    expect(node.recorder.nonZero('kubelet_credential_provider_config_info')).toEqual({ [hash]: 1 });
    expect(node.recorder.mistakes).toEqual([]);
  });

  it('is run for one image of a pod after another', async () => {
    const node = await nodeWith([providerNamed('one')], {
      one: `echo begin >> $FOLDER/order; sleep 0.05; echo end >> $FOLDER/order\n${user('me')}`,
    });
    await Promise.all(['a', 'b', 'c'].map((name) => node.users(`registry.example.com/${name}`)));
    expect(await node.read('order')).toBe('begin\nend\nbegin\nend\nbegin\nend\n');
  });

  it('gives credentials beside the others, the most specific place first, and none for other images', async () => {
    const places = {
      '*.example.com': { username: 'wide' },
      'registry.example.com/team': { username: 'narrow' },
      'other.io': { username: 'other' },
    };
    const node = await nodeWith([providerNamed('one'), providerNamed('two')], {
      one: print(answerText(places)),
      two: user('second'),
    });
    expect(await node.users()).toEqual(['narrow', 'wide', 'second']);
  });
});

describe('a plugin that is broken or hostile', () => {
  const answer = (fields: object): string =>
    print(JSON.stringify({ apiVersion: answerVersion, kind: 'CredentialProviderResponse', ...fields }));

  it.each([
    ['ends with a code', 'echo no such role >&2; exit 7', 'one ended with exit code 7: no such role'],
    ['tells what it was given in confidence', 'echo "got $SECRET" >&2; exit 1', 'ended with exit code 1: got (hidden)'],
    [
      'tells so much that what it was given in confidence is cut',
      'printf "why %1980s got $SECRET" x >&2; exit 1',
      'ended with exit code 1: why x got',
    ],
    [
      'tells so much that a password is cut',
      'printf "why %1975s https://me:topsecret@example.com" x >&2; exit 1',
      'ended with exit code 1: why x',
    ],
    [
      'tells so much that the words of what it was given are cut',
      'printf "why %1970s got $WORDS" x >&2; exit 1',
      'ended with exit code 1: why x got',
    ],
    [
      'tells what begins with something else that it was given',
      'echo "got $WORDS" >&2; exit 1',
      'ended with exit code 1: got (hidden)',
    ],
    [
      'tells a password',
      'echo "GET https://me:topsecret@example.com failed" >&2; exit 1',
      'GET https://(hidden)@example.com failed',
    ],
    ['writes a gibibyte', 'yes topsecret | head -c 1073741824', 'wrote more than 1048576 bytes'],
    ['writes no JSON', 'echo topsecret', 'its answer is no JSON object'],
    ['writes nothing', 'true', 'its answer is no JSON object'],
    ['has another version', answer({ apiVersion: 'credentialprovider.kubelet.k8s.io/v1beta1' }), 'must be of apiVersion'],
    ['has another kind', answer({ kind: 'topsecret' }), 'must be of kind CredentialProviderResponse'],
    ['has no cacheKeyType', answer({ cacheKeyType: 'topsecret' }), 'no cacheKeyType that is Image, Registry or Global'],
    ['has a time that is none', answer({ cacheKeyType: 'Image', cacheDuration: 'topsecret' }), 'a cacheDuration that is no time'],
    ['has a field of nobody', answer({ cacheKeyType: 'Image', topsecret: 1 }), 'a field that is not known'],
    [
      'has credentials that are none',
      answer({ cacheKeyType: 'Image', auth: { a: 'topsecret' } }),
      'credentials that are no object',
    ],
    [
      'has a password that is none',
      answer({ cacheKeyType: 'Image', auth: { a: { password: ['topsecret'] } } }),
      'a password that is no text',
    ],
  ])('counts as one without credentials, and the log says why: it %s', async (_, script, words) => {
    const env = [
      { name: 'BEGINNING', value: 'of many ' },
      { name: 'SECRET', value: 'topsecret-value' },
      { name: 'WORDS', value: 'of many topsecret words' },
    ];
    const node = await nodeWith([providerNamed('one', { env }), providerNamed('two')], { one: script, two: user('second') });
    const { credentials, failed } = await node.plugins.for(image, podOf('web'), never);
    expect([credentials.length, failed]).toEqual([1, ['one']]);
    const [line] = node.log.saying('a plugin gave no credentials for an image');
    expect(line?.fields).toMatchObject({ plugin: 'one', podName: 'web', podNamespace: 'shop', problemKind: 'credential-plugin' });
    expect(inspect(line, { depth: 9, showHidden: true })).toContain(words);
    expect(inspect([node.log.lines, node.plugins.troubles()], { depth: 9, showHidden: true })).not.toContain('topsecret');
    expect(node.plugins.troubles()).toMatchObject([{ name: 'one', attempt: 1, message: expect.stringContaining(words) }]);
  });

  it('has a minute', async () => {
    const node = await nodeWith([providerNamed('one')], { one: 'exec sleep 600' });
    const asked = node.plugins.for(image, podOf('web'), never);
    await until(async () => (await node.runs()) === 1);
    await node.clock.advance(60_000);
    expect((await asked).failed).toEqual(['one']);
    expect(node.plugins.troubles()).toMatchObject([{ message: 'it gave no answer within 60 s' }]);
  });

  it('is no trouble any more once it answers, and once nobody has asked for long', async () => {
    const node = await nodeWith([providerNamed('one')], { one: `[ -e $FOLDER/well ] || exit 1\n${user('me')}` });
    expect(await node.users()).toEqual([]);
    await node.plugin('one', user('me'));
    expect(await node.users()).toEqual(['me']);
    expect([node.plugins.troubles(), node.log.of('info')]).toEqual([[], ['a plugin gives credentials for images again']]);
    await node.plugin('one', 'exit 1');
    await node.users('other.example.com/app');
    expect(node.plugins.troubles().length).toBe(1);
    await node.clock.advance(600_000);
    expect(node.plugins.troubles()).toEqual([]);
  });

  it('has at most 4 MiB of answers kept, the newest ones', async () => {
    const script = `echo '{"apiVersion":"${answerVersion}","kind":"CredentialProviderResponse","cacheKeyType":"Image","auth":{"*.example.com":{"username":"me","password":"'$(head -c 900000 /dev/zero | tr '\\0' x)'"}}}'`;
    const node = await nodeWith([providerNamed('one')], { one: script });
    const ask = async (index: number): Promise<number> => {
      await node.users(`registry.example.com/${index}`);
      return node.runs();
    };
    for (let index = 0; index < 6; index += 1) expect(await ask(index)).toBe(index + 1);
    expect([await ask(5), await ask(2), await ask(1)]).toEqual([6, 6, 7]);
  });
});

describe('a plugin with tokens of service accounts', () => {
  const tokens = { serviceAccountTokenAudience: 'registry', cacheType: 'ServiceAccount', requireServiceAccount: true };
  const withTokens = (more: object = {}) => providerNamed('one', { tokenAttributes: { ...tokens, ...more } });
  const keys = { requiredServiceAccountAnnotationKeys: ['role'], optionalServiceAccountAnnotationKeys: ['zone', 'absent'] };

  it('gets the token of the pod and the annotations that it asks for, and what it gives is the account’s', async () => {
    const node = await nodeWith([withTokens(keys)], { one: user('me') });
    const { credentials } = await node.plugins.for(image, podOf('web', 'builder'), never);
    expect(credentials).toEqual([
      { auth: { username: 'me', password: 'pw' }, account: { uid: 'uid-of-builder', namespace: 'shop', name: 'builder' } },
    ]);
    expect(JSON.parse(await node.read('request'))).toEqual({
      kind: 'CredentialProviderRequest',
      apiVersion: answerVersion,
      image,
      serviceAccountToken: 'a-secret-token of web for registry',
      serviceAccountAnnotations: { role: 'puller', zone: 'a' },
    });
  });

  it('is not asked for a pod without an account, or without an annotation that it needs', async () => {
    const node = await nodeWith([withTokens(keys)], { one: user('me') });
    expect(await node.users(image, podOf('static'))).toEqual([]);
    delete node.annotations.role;
    expect(await node.users(image, podOf('web', 'builder'))).toEqual([]);
    expect([await node.runs(), node.log.lines]).toEqual([0, []]);
  });

  it('that needs no account is asked without a token for a pod without one', async () => {
    const node = await nodeWith([withTokens({ requireServiceAccount: false })], { one: user('me') });
    const { credentials } = await node.plugins.for(image, podOf('static'), never);
    expect(credentials).toMatchObject([{ account: undefined }]);
    expect(JSON.parse(await node.read('request'))).not.toHaveProperty('serviceAccountToken');
  });

  it.each([
    ['ServiceAccount', 1],
    ['Token', 2],
  ])('keeps its answer for one account, and by %s for one token', async (cacheType, runs) => {
    const node = await nodeWith([withTokens({ cacheType })], { one: user('me', { cacheKeyType: 'Global' }) });
    await node.users(image, podOf('web', 'builder'));
    node.renew();
    await node.users(image, podOf('web', 'builder'));
    expect(await node.runs()).toBe(runs);
    await node.users(image, podOf('web', 'other'));
    expect(await node.runs()).toBe(runs + 1);
  });

  it.each([
    ['ServiceAccount', []],
    ['Token', ['token']],
  ])('may answer with the token itself: by %s', async (cacheType, users) => {
    const password = 'a-secret-token of web for registry';
    const node = await nodeWith([withTokens({ cacheType })], {
      one: print(answerText({ '*.example.com': { username: 'token', password } })),
    });
    expect(await node.users(image, podOf('web', 'builder'))).toEqual(users);
    expect(inspect(node.log.lines, { depth: 9 })).not.toContain('a-secret-token');
  });

  it('never has the token in a log, also where it complains of it', async () => {
    const node = await nodeWith([withTokens()], { one: 'cat $FOLDER/request >&2; exit 1' });
    await node.users(image, podOf('web', 'builder'));
    const told = inspect(node.log.lines, { depth: 9, showHidden: true });
    expect(told).toContain('(hidden)');
    expect(told).not.toContain('a-secret-token');
  });

  it('gives nothing where the account is not there, and the log says so', async () => {
    const node = await nodeWith([withTokens()], { one: user('me') });
    expect(await node.users(image, podOf('web', 'gone'))).toEqual([]);
    expect(node.plugins.troubles()).toMatchObject([{ message: expect.stringContaining('serviceaccounts "gone" not found') }]);
  });
});

import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { goDurationMs } from '../../../../src/api/json/go-duration.ts';
import { readImageCredentialConfig } from '../../../../src/kubelet/images/image-credential-config.ts';
import { configText, pluginFolder, providerNamed } from './plugin-folder.ts';

const tokens = { serviceAccountTokenAudience: 'registry', cacheType: 'Token', requireServiceAccount: true };

describe('the configuration of plugins for image credentials', () => {
  it('is a file of YAML or JSON', async () => {
    const { binDir, config, plugin } = await pluginFolder();
    await plugin('ecr', 'exit 0');
    const text = `apiVersion: kubelet.config.k8s.io/v1
kind: CredentialProviderConfig
providers:
  - name: ecr
    matchImages: ["*.dkr.ecr.*.amazonaws.com", "example.com:5000/team"]
    defaultCacheDuration: 1h30m
    apiVersion: credentialprovider.kubelet.k8s.io/v1
    args: [get, --quiet]
    env: [{name: REGION, value: eu}]
    tokenAttributes:
      serviceAccountTokenAudience: registry
      cacheType: ServiceAccount
      requireServiceAccount: true
      requiredServiceAccountAnnotationKeys: [example.com/Role]
      optionalServiceAccountAnnotationKeys: [example.com/zone]
`;
    await writeFile(config, text);
    const { providers, hash } = await readImageCredentialConfig(config, binDir);
    expect(hash).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(providers).toEqual([
      {
        name: 'ecr',
        apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
        matchImages: ['*.dkr.ecr.*.amazonaws.com', 'example.com:5000/team'],
        defaultCacheMs: 5_400_000,
        args: ['get', '--quiet'],
        env: { REGION: 'eu' },
        tokens: {
          audience: 'registry',
          requireServiceAccount: true,
          cacheType: 'ServiceAccount',
          requiredAnnotations: ['example.com/Role'],
          optionalAnnotations: ['example.com/zone'],
        },
      },
    ]);
  });

  it('is all such files of a folder, in the order of their names', async () => {
    const { binDir, path, plugin } = await pluginFolder();
    const folder = path('configs');
    await mkdir(`${folder}/c.yaml`, { recursive: true });
    for (const name of ['one', 'two', 'three']) await plugin(name, 'exit 0');
    await writeFile(`${folder}/b.json`, configText([providerNamed('two'), providerNamed('three')], 'v1beta1'));
    await writeFile(`${folder}/a.yml`, configText([providerNamed('one')], 'v1alpha1'));
    await writeFile(`${folder}/README`, 'no configuration');
    const { providers, hash } = await readImageCredentialConfig(folder, binDir);
    const told = createHash('sha256');
    for (const name of ['a.yml', 'b.json']) {
      const bytes = await readFile(`${folder}/${name}`);
      // the length as 64 bits, the highest first
      told.update(Buffer.from([0, 0, 0, 0, 0, 0, bytes.length >> 8, bytes.length & 255])).update(bytes);
    }
    expect(hash).toBe(`sha256:${told.digest('hex')}`);
    expect(providers.map(({ name }) => name)).toEqual(['one', 'two', 'three']);
    await writeFile(`${folder}/z.json`, configText([providerNamed('one')]));
    await expect(readImageCredentialConfig(folder, binDir)).rejects.toThrow('z.json: the plugin "one" is there twice');
  });

  it.each([
    ['no providers', [], 'Expected `providers` to be a list of at least one plugin, got (array)'],
    ['a path for a name', [providerNamed('../sh')], '`providers[0].name` to be the name of a program'],
    ['two dots for a name', [providerNamed('..')], '`providers[0].name` to be the name of a program'],
    ['no images', [providerNamed('one', { matchImages: [] })], '`providers[0].matchImages` to be a list of at least one place'],
    [
      'an image that is none',
      [providerNamed('one', { matchImages: ['%x%'] })],
      'to be places such as *.example.com/team, got "%x%"',
    ],
    [
      'no time',
      [providerNamed('one', { defaultCacheDuration: undefined })],
      'to be a time of 0 or more, such as 12h, got undefined',
    ],
    [
      'a time below 0',
      [providerNamed('one', { defaultCacheDuration: '-1s' })],
      'to be a time of 0 or more, such as 12h, got "-1s"',
    ],
    [
      'no version',
      [providerNamed('one', { apiVersion: 'v1' })],
      '`providers[0].apiVersion` to be credentialprovider.kubelet.k8s.io/v1,',
    ],
    [
      'a field of nobody',
      [providerNamed('one', { matchImage: 'a' })],
      'providers[0].matchImage is no field of CredentialProviderConfig',
    ],
    [
      'an argument that is no text',
      [providerNamed('one', { args: [7] })],
      'Expected `providers[0].args` to be a list of texts, got number',
    ],
    [
      'no cacheType',
      [providerNamed('one', { tokenAttributes: { ...tokens, cacheType: undefined } })],
      '`providers[0].tokenAttributes.cacheType` to be ServiceAccount or Token, got ""',
    ],
    [
      'an older version with tokens',
      [providerNamed('one', { tokenAttributes: tokens, apiVersion: 'credentialprovider.kubelet.k8s.io/v1beta1' })],
      '`providers[0].tokenAttributes` to be left out, unless apiVersion is credentialprovider.kubelet.k8s.io/v1',
    ],
    [
      'annotations of nobody',
      [
        providerNamed('one', {
          tokenAttributes: { ...tokens, requireServiceAccount: false, requiredServiceAccountAnnotationKeys: ['a/b'] },
        }),
      ],
      'to be left out, unless requireServiceAccount is true',
    ],
    [
      'one annotation twice',
      [
        providerNamed('one', {
          tokenAttributes: {
            ...tokens,
            requiredServiceAccountAnnotationKeys: ['a/b'],
            optionalServiceAccountAnnotationKeys: ['a/b'],
          },
        }),
      ],
      'without a key that is both required and optional, got "a/b"',
    ],
  ])('with %s is refused with the rule', async (_, providers, message) => {
    const { binDir, config, configure, plugin } = await pluginFolder();
    await plugin('one', 'exit 0');
    await configure(providers);
    const refusal = expect(readImageCredentialConfig(config, binDir)).rejects;
    await refusal.toMatchObject({ code: 'ERR_INVALID_OPTION', message: expect.stringContaining(message) });
  });

  it('of an older version has no tokens', async () => {
    const { binDir, config, configure } = await pluginFolder();
    await configure([providerNamed('one', { tokenAttributes: tokens })], 'v1beta1');
    await expect(readImageCredentialConfig(config, binDir)).rejects.toThrow('providers[0].tokenAttributes is no field');
  });

  it.each([
    ['is missing', undefined, 0o755, 'cannot be run: ENOENT'],
    ['may not be run', 'exit 0', 0o644, 'cannot be run: EACCES'],
  ])('is refused where a program %s', async (_, script, mode, message) => {
    const { binDir, config, configure, plugin } = await pluginFolder();
    if (script !== undefined) await plugin('one', script, mode);
    await configure([providerNamed('one')]);
    await expect(readImageCredentialConfig(config, binDir)).rejects.toThrow(message);
  });

  it('names the file or the folder that cannot be used, and nothing that is in it', async () => {
    const { binDir, config, path } = await pluginFolder();
    await expect(readImageCredentialConfig(config, binDir)).rejects.toThrow(`${config} cannot be read: ENOENT`);
    await expect(readImageCredentialConfig(config, path('no'))).rejects.toThrow(
      `image credentials ${path('no')} cannot be used: ENOENT`,
    );
    await expect(readImageCredentialConfig(binDir, binDir)).rejects.toThrow(`the folder ${binDir} has no configuration`);
    await writeFile(config, '{"password": "topsecret');
    const error = await readImageCredentialConfig(config, binDir).catch((reason: Error) => reason.message);
    expect(error).toContain(`${config}: Expected the manifest to be JSON`);
    expect(error).not.toContain('topsecret');
  });
});

describe('a time of Go', () => {
  it.each([
    ['0', 0],
    ['12h', 43_200_000],
    ['1m30.5s', 90_500],
    ['-5ms', -5],
    ['1.s', 1000],
    ['10', undefined],
    ['', undefined],
    ['1h 2m', undefined],
    ['1'.repeat(101), undefined],
  ])('%j is %j ms', (text, ms) => expect(goDurationMs(text)).toBe(ms));
});

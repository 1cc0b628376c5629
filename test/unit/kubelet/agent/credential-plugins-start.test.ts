import { expect, it } from 'vitest';
import { pluginFolder, providerNamed } from '../images/plugin-folder.ts';
import { NodeWorld } from './node-world.ts';

it('an agent does not start with a configuration of credential plugins that breaks a rule, and says which', async () => {
  await using world = await NodeWorld.make();
  const { config, binDir, configure } = await pluginFolder();
  await configure([providerNamed('one')]);
  const agent = world.agent({ imageCredentialProviderConfig: config, imageCredentialProviderBinDir: binDir });
  const started = agent.start();
  await expect(started).rejects.toMatchObject({
    code: 'ERR_INVALID_OPTION',
    message: expect.stringContaining('/bin/one cannot be run: ENOENT'),
  });
  expect(agent.snapshot().problems[0]).toMatchObject({
    kind: 'start',
    message: expect.stringContaining('/bin/one cannot be run'),
  });
  await world.through(agent.stop());
});

it.each([
  [
    { imageCredentialProviderConfig: '/etc/config' },
    '`imageCredentialProviderBinDir` to be an absolute path, since imageCredentialProviderConfig is given',
  ],
  [
    { imageCredentialProviderBinDir: '/bin' },
    '`imageCredentialProviderConfig` to be an absolute path, since imageCredentialProviderBinDir is given',
  ],
  [
    { imageCredentialProviderConfig: 'config', imageCredentialProviderBinDir: '/bin' },
    '`imageCredentialProviderConfig` to be an absolute path, got "config"',
  ],
])('the folder of plugins and their configuration are given together: %j', async (options, message) => {
  await using world = await NodeWorld.make();
  expect(() => world.agent(options)).toThrow(message);
});

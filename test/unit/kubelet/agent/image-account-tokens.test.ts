import { expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { noMetrics } from '../../../../src/base/metrics/metrics.ts';
import { newImageCredentials } from '../../../../src/kubelet/agent/new-pod-syncer.ts';
import { TokenManager } from '../../../../src/kubelet.ts';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { answerText, pluginFolder, providerNamed } from '../images/plugin-folder.ts';

it('a plugin for image credentials gets a token of the account that is there, never one of an account that had its name', async () => {
  const [clock, folder] = [new FakeClock(), await pluginFolder()];
  const tokenAttributes = { serviceAccountTokenAudience: 'registry', cacheType: 'ServiceAccount', requireServiceAccount: true };
  await folder.configure([providerNamed('one', { tokenAttributes })]);
  await folder.plugin('one', `cat <<'END'\n${answerText({ '*.example.com': { username: 'me' } })}\nEND`);
  let uid = 'before';
  const transport = {
    request: async ({ body }: { body?: unknown }) => {
      if (body === undefined)
        return { kind: 'ServiceAccount', metadata: { name: 'builder', namespace: 'shop', uid, resourceVersion: '1' } } as never;
      const asked = (body as { metadata?: { uid?: string } }).metadata?.uid;
      const status = { token: `token-of-${asked}`, expirationTimestamp: new Date(clock.now() + 3_600_000).toISOString() };
      return { spec: { expirationSeconds: 3600 }, status } as never;
    },
    stream: async () => {},
  };
  await using tokens = new TokenManager({ transport, clock, logger: null });
  const { config, binDir } = folder;
  const settings = { imageCredentialProviderConfig: config, imageCredentialProviderBinDir: binDir };
  const plugins = newImageCredentials({ settings, clock, logger: silentLogger, metrics: noMetrics }, transport, tokens);
  await plugins?.load();
  const pod = buildPod({
    metadata: { uid: 'u1', name: 'web', namespace: 'shop' },
    spec: { containers: [], serviceAccountName: 'builder' },
  });
  const given = async () => {
    const { credentials } = (await plugins?.for('registry.example.com/app', pod, new AbortController().signal)) ?? {};
    return [credentials?.[0]?.account?.uid, JSON.parse(await folder.read('request')).serviceAccountToken];
  };
  expect(await given()).toEqual(['before', 'token-of-before']);
  uid = 'after';
  expect(await given()).toEqual(['after', 'token-of-after']);
});

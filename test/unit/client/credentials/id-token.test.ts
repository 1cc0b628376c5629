import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { CredentialsFailure } from '../../../../src/client/credentials/credentials.ts';
import { IdToken } from '../../../../src/client/credentials/id-token.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { failureOf, kubeConfigFor } from '../transport/scripted-server.ts';
import { identityProvider, idToken } from './identity-provider.ts';
import { waiter } from './waiters.ts';

const inAnHour = Math.floor(Date.now() / 1000) + 3600;
const good = idToken({ exp: inAnHour });
const expired = idToken({ exp: inAnHour - 7200 });

/** The clock stands at the machine's time: client-node looks at that one. */
function sourceOf(authProvider: object) {
  const kubeConfig = kubeConfigFor('https://127.0.0.1:1', { authProvider });
  const [cluster, user] = [kubeConfig.getCurrentCluster(), kubeConfig.getCurrentUser()];
  if (cluster === null || user === null) throw new Error('no cluster or no user');
  const clock = new FakeClock({ start: Date.now() });
  return { clock, source: new IdToken({ kubeConfig, cluster, user, clock, logger: silentLogger }) };
}

describe('IdToken', () => {
  it('gives the token of the kubeconfig while it serves', async () => {
    await using provider = await identityProvider();
    const { clock, source } = sourceOf(provider.authProvider(good));
    const first = await source.get(waiter());
    expect(first).toEqual({ authorization: `Bearer ${good}` });
    await clock.advance(3590_000);
    expect(await source.get(waiter())).toBe(first);
    expect(provider.shown).toEqual([]);
  });

  it('renews an expired token once for all requests, and keeps the new one', async () => {
    await using provider = await identityProvider();
    const { source } = sourceOf(provider.authProvider(expired));
    const given = await Promise.all(Array.from({ length: 16 }, () => source.get(waiter())));
    expect(new Set(given).size).toBe(1);
    expect(given[0]).toEqual({ authorization: `Bearer ${provider.tokenOf(1)}` });
    expect(await source.get(waiter())).toBe(given[0]);
    expect(provider.shown).toEqual(['refresh-1']);
  });

  it('renews a token that was refused, once, with the newest refresh token', async () => {
    await using provider = await identityProvider();
    const { source } = sourceOf(provider.authProvider(good));
    const first = await source.get(waiter());
    source.refuse(first);
    const second = await source.get(waiter());
    expect(second).toEqual({ authorization: `Bearer ${provider.tokenOf(1)}` });
    source.refuse(first);
    expect(await source.get(waiter())).toBe(second);
    source.refuse(second);
    expect(await source.get(waiter())).toEqual({ authorization: `Bearer ${provider.tokenOf(2)}` });
    expect(provider.shown).toEqual(['refresh-1', 'refresh-2']);
  });

  it('gives a refused token again where it cannot be renewed', async () => {
    const { source } = sourceOf({ name: 'oidc', config: { 'id-token': good } });
    const first = await source.get(waiter());
    source.refuse(first);
    expect(await source.get(waiter())).toBe(first);
  });

  it.each([
    ['there is none', {}, 'The kubeconfig has no id token for its oidc user'],
    ['it has expired', { 'id-token': expired }, 'The id token has expired and was not renewed'],
    ['it cannot be read', { 'id-token': 'x.y.z' }, 'The id token has expired and was not renewed'],
  ])('fails where nothing can be renewed and %s', async (_what, config, message) => {
    const { source } = sourceOf({ name: 'oidc', config });
    expect(await failureOf(source.get(waiter()))).toMatchObject({ reason: 'NoCredentials', message });
  });

  it('serves for ever without an expiry', async () => {
    const { clock, source } = sourceOf({ name: 'oidc', config: { 'id-token': idToken({}) } });
    await clock.advance(365 * 24 * 3600_000);
    expect(await source.get(waiter())).toEqual({ authorization: `Bearer ${idToken({})}` });
  });

  it('shows no token when the renewal fails', async () => {
    await using provider = await identityProvider();
    const authProvider = provider.authProvider(expired);
    authProvider.config['refresh-token'] = 'a-very-secret-token';
    const { source } = sourceOf(authProvider);
    const error = await failureOf(source.get(waiter()));
    expect(error).toMatchObject({ reason: 'NoCredentials' });
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain('a-very-secret-token');
  });

  it('shows a refresh token once, though the requests that waited for its renewal have left', async () => {
    const held = Promise.withResolvers<void>();
    await using provider = await identityProvider(() => held.promise);
    const { clock, source } = sourceOf(provider.authProvider(expired));
    const late = failureOf(source.get(waiter(1000)));
    await until(() => provider.shown.length === 1);
    await clock.advance(1000);
    expect(await late).toMatchObject({ reason: 'Timeout' });
    const next = source.get(waiter());
    held.resolve();
    expect(await next).toEqual({ authorization: `Bearer ${provider.tokenOf(1)}` });
    expect(provider.shown).toEqual(['refresh-1']);
  });

  it('begins another renewal once one has failed', async () => {
    await using provider = await identityProvider();
    const authProvider = provider.authProvider(expired);
    const { source } = sourceOf(authProvider);
    authProvider.config['refresh-token'] = 'no longer good';
    expect(await failureOf(source.get(waiter()))).toMatchObject({ reason: 'NoCredentials' });
    authProvider.config['refresh-token'] = 'refresh-2';
    expect(await source.get(waiter())).toEqual({ authorization: `Bearer ${provider.tokenOf(2)}` });
  });

  it('waits for a renewal no longer than the request may, nor than until it is closed', async () => {
    const held = Promise.withResolvers<void>();
    await using provider = await identityProvider(() => held.promise);
    const { clock, source } = sourceOf(provider.authProvider(expired));
    const late = failureOf(source.get(waiter(1000)));
    await until(() => provider.shown.length === 1);
    await clock.advance(1000);
    expect(await late).toMatchObject({ reason: 'Timeout', message: expect.stringContaining('the renewal of the id token') });
    const closed = failureOf(source.get(waiter()));
    const reason = new CredentialsFailure('Aborted', 'closed');
    await source.close(reason);
    expect(await closed).toBe(reason);
    held.resolve();
  });
});

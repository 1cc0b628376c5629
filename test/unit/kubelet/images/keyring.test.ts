import { describe, expect, it, vi } from 'vitest';
import { credentialsFor, type PullSecret } from '../../../../src/kubelet/images/keyring.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
function secretOf(auths: Readonly<Record<string, object>>, name = 'pull'): PullSecret {
  const metadata = { name, namespace: 'default', uid: `uid-of-${name}` };
  return { metadata, type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': base64(JSON.stringify({ auths })) } };
}
const user = (username: string) => ({ username, password: 'p' });
const users = (repository: string, ...secrets: PullSecret[]) =>
  credentialsFor(repository, secrets).map(({ auth }) => auth.username);

describe('credentials', () => {
  it('are those of the most specific place first', () => {
    const secret = secretOf({ 'quay.io': user('host'), 'quay.io/team': user('team'), 'gcr.io': user('other') });
    expect(users('quay.io/team/app', secret)).toEqual(['team', 'host']);
    expect(users('quay.io/else/app', secret)).toEqual(['host']);
    expect(users('registry.k8s.io/pause', secret)).toEqual([]);
  });

  it.each([
    ['https://quay.io', 'quay.io/app', true],
    ['https://quay.io/v1/', 'quay.io/app', true],
    ['quay.io/v2/', 'quay.io/app', true],
    ['*.quay.io', 'team.quay.io/app', true],
    ['*.quay.io', 'a.b.quay.io/app', false],
    ['*.quay.io', 'quay.io/app', false],
    ['quay.io:443', 'quay.io/app', false],
    ['localhost:5000', 'localhost:5000/app', true],
    ['localhost:5000', 'localhost:5001/app', false],
    ['quay.io/team', 'quay.io/other', false],
    ['(a+)+$.io', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.io/app', false],
    ['q*y.io', 'quay.io/app', true],
    ['q*a*y.io', 'quay.io/app', true],
    ['**.io', 'quay.io/app', true],
    ['quay*.io', 'quay.io/app', true],
    ['*u.io', 'quay.io/app', false],
    ['a*a.io', 'a.io/app', false],
    [`${'*a'.repeat(12)}*b.io`, `${'a'.repeat(60)}.io/app`, false],
    [`${'*a'.repeat(12)}*.io`, `${'a'.repeat(60)}.io/app`, true],
  ])('for %s are for %s: %s', (place, repository, isFound) => {
    expect(users(repository, secretOf({ [place]: user('me') }))).toEqual(isFound ? ['me'] : []);
  });

  it('of Docker Hub are for names without a registry', () => {
    const secret = secretOf({ 'https://index.docker.io/v1/': user('hub') });
    expect(users('docker.io/library/busybox', secret)).toEqual(['hub']);
    expect(users('quay.io/app', secret)).toEqual([]);
  });

  it('can be one field, or in the old form', () => {
    expect(users('quay.io/app', secretOf({ 'quay.io': { auth: base64('me:with:colons') } }))).toEqual(['me']);
    const old = { type: 'kubernetes.io/dockercfg', data: { '.dockercfg': base64(JSON.stringify({ 'quay.io': user('old') })) } };
    expect(users('quay.io/app', old)).toEqual(['old']);
    expect(users('quay.io/app', { type: 'Opaque', data: old.data })).toEqual([]);
  });

  it('of several secrets count in the order of the secrets', () => {
    const secrets = [secretOf({ 'quay.io': user('first') }), secretOf({ 'quay.io': user('second') }, 'other')];
    expect(users('quay.io/app', ...secrets)).toEqual(['first', 'second']);
  });

  it('that cannot be read show nothing of the secret', () => {
    for (const text of ['{"auths":{"quay.io":{"auth":"c2VjcmV0"}}}', 'secret words']) {
      const secret = { ...secretOf({}), data: { '.dockerconfigjson': base64(text) } };
      expect(() => users('quay.io/app', secret)).toThrow(/^the pull secret default\/pull cannot be read$/);
    }
  });

  it('are looked at once each, however many there are', () => {
    const auths = Object.fromEntries(Array.from({ length: 4000 }, (_, index) => [`r${index}.io`, user('x')]));
    const { filter } = Array.prototype;
    let looked = 0;
    const spy = vi.spyOn(Array.prototype, 'filter').mockImplementation(function (
      this: unknown[],
      ...args: Parameters<typeof filter>
    ) {
      looked += this.length;
      return filter.apply(this, args);
    });
    const found = users('r7.io/app', secretOf(auths));
    spy.mockRestore();
    expect(found).toEqual(['x']);
    expect(looked).toBeLessThan(10_000);
  });

  it('are refused beyond 4,096 places, and 32 are tried', () => {
    const auths = Object.fromEntries(
      Array.from({ length: 4096 }, (_, index) => [`quay.io/${'t'.repeat(index % 100)}${index}`, user('x')]),
    );
    expect(users('quay.io/app', secretOf(auths))).toEqual([]);
    expect(() => users('quay.io/app', secretOf(auths), secretOf({ 'quay.io': user('y') }, 'next'))).toThrow(
      "the pull secret default/next: more than 4096 places in one pod's secrets",
    );
    const many = Array.from({ length: 100 }, (_, index) => secretOf({ 'quay.io': user(`u${index}`) }));
    expect(users('quay.io/app', ...many)).toHaveLength(32);
  });
});

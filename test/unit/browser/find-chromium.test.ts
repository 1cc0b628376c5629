import { describe, expect, it } from 'vitest';
import { findChromium } from '../../real/browser/support/find-chromium.ts';
import { NoChromiumError, requireChromium } from '../../real/browser/support/require-chromium.ts';

const find = (env: NodeJS.ProcessEnv, ...files: string[]): string | undefined =>
  findChromium({ env, exists: (path) => files.includes(path), playwrightsOwn: () => '/cache/chrome' });

describe('findChromium', () => {
  it('takes PSM_CHROMIUM before all others, and refuses one that is not there', () => {
    expect(find({ PSM_CHROMIUM: '/opt/c', PATH: '/bin' }, '/opt/c', '/cache/chrome', '/bin/chromium')).toBe('/opt/c');
    expect(() => find({ PSM_CHROMIUM: '/opt/c', PATH: '/bin' }, '/bin/chromium')).toThrow(
      'PSM_CHROMIUM is /opt/c, and there is no such file',
    );
  });

  it("takes Playwright's own before those of the system", () => {
    expect(find({ PATH: '/bin' }, '/cache/chrome', '/bin/chromium')).toBe('/cache/chrome');
  });

  it('looks in every folder of PATH for chromium before it takes google-chrome', () => {
    expect(find({ PATH: '/a:/b' }, '/a/google-chrome', '/b/chromium')).toBe('/b/chromium');
    expect(find({ PATH: '/a:/b' }, '/a/google-chrome')).toBe('/a/google-chrome');
  });

  it('finds none where there is none', () => {
    expect(find({ PATH: '' })).toBeUndefined();
    expect(find({}, '/bin/chromium')).toBeUndefined();
  });
});

describe('requireChromium', () => {
  const never = (): Promise<void> => Promise.reject(new Error('must not be called'));

  it('installs nothing where a browser is', async () => {
    expect(await requireChromium({ find: () => '/c', canInstall: () => Promise.resolve(true), install: never })).toBe('/c');
  });

  it('installs one where it can', async () => {
    let found: string | undefined;
    const install = async (): Promise<void> => {
      found = '/usr/bin/chromium';
    };
    expect(await requireChromium({ find: () => found, canInstall: () => Promise.resolve(true), install })).toBe(
      '/usr/bin/chromium',
    );
  });

  it.each([
    ['it may not install', false, never],
    ['the installation fails', true, () => Promise.reject(new Error('no network'))],
    ['the installation brings none', true, () => Promise.resolve()],
  ])('fails with the command that gets one where %s', async (_, canInstall, install) => {
    const asked = requireChromium({ find: () => undefined, canInstall: () => Promise.resolve(canInstall), install });
    await expect(asked).rejects.toThrow(NoChromiumError);
    await expect(asked).rejects.toThrow('apt-get install -y --no-install-recommends chromium');
  });
});

import { readdir, readFile, readlink, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ServingCertificate } from '../../../../src/node/certificates/certificate-source.ts';
import { createCertificateAuthority } from '../../../support/certificate-authority.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { until } from '../../../support/until.ts';
import { hourMs, signerWorld } from './signer-world.ts';

const fileName = 'kubelet-server-current.pem';

/** A world whose node has its certificate, and keeps it in the folder. */
async function keptWorld(folder: string) {
  const world = signerWorld({ folder });
  const source = world.start();
  await source.read().catch(() => {});
  await world.asked(1);
  world.sign();
  await world.pass(2000);
  let kept: ServingCertificate | undefined;
  await until(async () => {
    kept = await source.read().catch(() => undefined);
    return kept !== undefined;
  });
  return { world, kept: kept ?? { cert: '', key: '' }, source };
}

describe('a folder for the certificate', () => {
  it("has it in the kubelet's file, which its own user alone can read", async () => {
    const folder = join(await tempDir(), 'pki');
    const { kept } = await keptWorld(folder);
    expect(await readFile(join(folder, fileName), 'utf8')).toBe(`${kept.cert}${kept.key}`);
    const modes = await Promise.all([stat(folder), stat(join(folder, fileName))]);
    expect(modes.map(({ mode }) => (mode & 0o777).toString(8))).toEqual(['700', '600']);
    const names = (await readdir(folder)).sort();
    expect(names).toEqual([expect.stringMatching(/^kubelet-server-\d{4}(-\d\d){5}\.pem$/), fileName]);
    // a kubelet that comes back refuses to renew what is no link
    expect(await readlink(join(folder, fileName))).toBe(join(folder, names[0] ?? ''));
  });

  it('gives a restarted node its certificate, and nobody is asked', async () => {
    const folder = await tempDir();
    const { world, kept, source } = await keptWorld(folder);
    await source.stop();
    const restarted = world.start({ folder });
    expect(await restarted.read()).toEqual(kept);
    await world.pass(60_000);
    expect([world.requests.length, restarted.problem()]).toEqual([1, undefined]);
    await world.pass(8 * hourMs, 10_000);
    await world.asked(2);
  });

  it('with a certificate that has ended, or lacks an address, brings a request at once', async () => {
    const folder = await tempDir();
    const { world, kept, source } = await keptWorld(folder);
    await source.stop();
    world.setAddresses([{ type: 'InternalIP', address: '10.0.0.9' }]);
    const moved = world.start({ folder });
    expect(await moved.read()).toEqual(kept);
    await world.asked(2);
    await moved.stop();
    world.clock.jump(11 * hourMs);
    const late = world.start({ folder });
    await expect(late.read()).rejects.toThrow('the API of the node has no certificate');
    await world.asked(3);
  });

  it.each([
    ['nothing', () => ''],
    ['half a file', (text: string) => text.slice(0, text.length - 100)],
    [
      'a key of another certificate',
      (text: string) => text.replace(/-----BEGIN PRIVATE[\s\S]*/, createCertificateAuthority('x').issue().key),
    ],
    ['noise', () => '\u0000'.repeat(1000)],
    ['more than a certificate has', () => 'x'.repeat(1_000_000)],
  ])('with %s is told of, and a new one is asked for', async (_name, change) => {
    const folder = await tempDir();
    const { world, source } = await keptWorld(folder);
    await source.stop();
    const file = join(folder, fileName);
    await writeFile(file, change(await readFile(file, 'utf8')));
    const restarted = world.start({ folder });
    await expect(restarted.read()).rejects.toThrow('the API of the node has no certificate');
    await world.asked(2);
    expect(world.log.saying('the certificate that was kept cannot be used: a new one is asked for')).toHaveLength(1);
    world.sign();
    await world.pass(2000);
    await until(async () => (await readFile(file, 'utf8')).startsWith('-----BEGIN CERTIFICATE'));
  });

  it('that cannot be written is told of, and the certificate is shown all the same', async () => {
    const file = join(await tempDir(), 'file');
    await writeFile(file, '');
    const { kept, world } = await keptWorld(file);
    expect(kept.cert).toContain('CERTIFICATE');
    expect(world.log.of('warn')).toContain('the certificate of the node could not be kept');
  });
});

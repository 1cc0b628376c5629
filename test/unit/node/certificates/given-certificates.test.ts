import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ServingCertificate } from '../../../../src/node/certificates/certificate-source.ts';
import { GivenCertificates } from '../../../../src/node/certificates/given-certificates.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { createCertificateAuthority } from '../../../support/certificate-authority.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';

const authority = createCertificateAuthority('cluster');
const hourMs = 3_600_000;
/** The test authority's certificates begin in 2020. This one lives for 100 hours. */
const start = Date.UTC(2020, 0, 1);
const notAfter = '200105040000Z';

function world(certificate: () => unknown) {
  const clock = new FakeClock({ start });
  const log = recordedLines();
  let calls = 0;
  const source = new GivenCertificates({
    certificate: () => {
      calls += 1;
      return certificate() as ServingCertificate;
    },
    clock,
    random: () => 0.5,
    logger: log.logger,
  });
  onTestFinished(() => source.stop());
  return { clock, log, source, calls: () => calls };
}

describe('a certificate by a function', () => {
  it('is asked for once, and again after 80 % of its life; who listens is told', async () => {
    let current = authority.issue({ notAfter });
    const { source, clock, calls } = world(() => Promise.resolve(current));
    let changes = 0;
    source.onChange(() => {
      changes += 1;
    });
    expect([await source.read(), await source.read()]).toEqual([current, current]);
    expect(calls()).toBe(1);
    const next = authority.issue({ notAfter: '200201000000Z' });
    current = next;
    await clock.advance(79 * hourMs);
    expect([calls(), changes]).toEqual([1, 0]);
    await clock.advance(2 * hourMs);
    expect([calls(), changes]).toEqual([2, 1]);
    expect(await source.read()).toEqual(next);
  });

  it('that is the old one is asked for again, from a minute on, and nobody is told', async () => {
    const current = authority.issue({ notAfter });
    const { source, clock, calls } = world(() => current);
    await source.read();
    await clock.advance(80 * hourMs + 30_000);
    expect(calls()).toBe(2);
    await clock.advance(60_000);
    expect(calls()).toBe(3);
    await clock.advance(600_000);
    expect(calls()).toBeLessThan(8);
  });

  it('that fails leaves the old one, and is a problem until it works again', async () => {
    let fails = false;
    const current = authority.issue({ notAfter });
    const { source, clock, log } = world(() => {
      if (fails) throw new Error('the vault is sealed');
      return current;
    });
    await source.read();
    fails = true;
    await clock.advance(80 * hourMs + 1000);
    expect(await source.read()).toEqual(current);
    expect(source.problem()).toMatchObject({
      kind: 'certificate-function',
      message: expect.stringMatching(/which ends at 2020-01-05T04:00:00.000Z, could not be renewed: the vault is sealed/),
    });
    expect(log.saying('the function of the certificate failed')).toHaveLength(1);
    fails = false;
    await clock.advance(61_000);
    expect(source.problem()).toBeUndefined();
    expect(log.of('info')).toEqual(['the function of the certificate works again']);
  });

  it.each([
    ['nothing', () => undefined, 'the function of the certificate answered no { cert, key }'],
    ['a text', () => 'PEM', 'the function of the certificate answered no { cert, key }'],
    ['no key', () => ({ cert: authority.cert }), 'the key is no text'],
    ['an empty key', () => ({ cert: authority.cert, key: ' ' }), 'the key is empty'],
    ['too long a text', () => ({ cert: 'x'.repeat(300_000), key: 'x' }), 'the certificate has more than 262144 characters'],
    ['no PEM', () => ({ cert: 'x', key: 'x' }), 'the certificate cannot be read: it must be PEM'],
    [
      'no PEM as a key',
      () => ({ cert: authority.cert, key: 'hidden' }),
      'the key cannot be read: it must be PEM, without a passphrase',
    ],
    ['a key of another', () => ({ cert: authority.cert, key: authority.issue().key }), 'the certificate is of another key'],
    [
      'one that has ended',
      () => authority.issue({ notAfter: '200101000000Z' }),
      'the certificate that the function gave has ended',
    ],
  ])('whose function answers %s is refused, and the key is not told', async (_name, answer, words) => {
    const { source, log } = world(answer);
    await expect(source.read()).rejects.toThrow(words);
    expect(inspect([log.lines, source.problem(), source], { depth: 20, showHidden: true })).not.toMatch(/hidden'|PRIVATE KEY/);
  });

  it('whose function never answers is given up after half a minute, and a stop leaves no timer', async () => {
    const { source, clock } = world(() => new Promise(() => {}));
    const reading = source.read();
    const refused = expect(reading).rejects.toThrow('gave no answer within 30000 ms');
    await clock.advance(30_000);
    await refused;
    await source.stop();
    expect(clock.pendingTimers).toBe(0);
    await expect(source.read()).rejects.toThrow('the server is closed');
  });
});

import { describe, expect, it } from 'vitest';
import type { CertificateSource } from '../../../../src/node/certificates/certificate-source.ts';
import { ServedCertificates } from '../../../../src/node/server/served-certificates.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { createCertificateAuthority } from '../../../support/certificate-authority.ts';

const authority = createCertificateAuthority('serving');

/** A source whose certificate a test changes, and what follows it. */
function world(more: Partial<CertificateSource> = {}) {
  const source = {
    reads: 0,
    stops: 0,
    pair: authority.issue(),
    listeners: new Set<() => void>(),
    read: async (): Promise<{ cert: string; key: string }> => {
      source.reads += 1;
      return source.pair;
    },
    onChange: (listener: () => void) => {
      source.listeners.add(listener);
      return () => void source.listeners.delete(listener);
    },
    stop: async () => {
      source.stops += 1;
    },
    ...more,
  };
  const clock = new FakeClock();
  const closing = new AbortController();
  const changes: unknown[] = [];
  const logged: string[] = [];
  const lines: object[] = [];
  const log = (fields: object, message: string): void => {
    lines.push(fields);
    logged.push(message);
  };
  const certificates = new ServedCertificates({
    trust: { certificates: source },
    reloadPeriodMs: 30_000,
    clock,
    logger: { debug: log, info: log, warn: log, error: log },
    signal: closing.signal,
    changed: ({ cert }) => changes.push(cert),
  });
  const change = (): void => {
    source.pair = authority.issue();
  };
  return { source, clock, closing, changes, lines, logged, certificates, change };
}

describe('the certificate of a server', () => {
  it('is read at the start and at each period, and told of when it is another one', async () => {
    const { source, clock, changes, certificates, change } = world();
    expect((await certificates.first()).cert).toBe(source.pair.cert);
    certificates.follow();
    await clock.advance(60_000);
    expect([source.reads, changes]).toEqual([3, []]);
    change();
    await clock.advance(30_000);
    expect(changes).toEqual([source.pair.cert]);
  });

  it('is read as soon as its source says that there is another one', async () => {
    const { source, changes, certificates, change } = world();
    await certificates.first();
    certificates.follow();
    change();
    for (const listener of source.listeners) listener();
    await settle(20);
    expect(changes).toEqual([source.pair.cert]);
  });

  it('is read once in a second of a source that says it all the time', async () => {
    const { source, clock, certificates } = world();
    source.read = async () => {
      source.reads += 1;
      for (const listener of source.listeners) listener();
      return source.pair;
    };
    await certificates.first();
    certificates.follow();
    for (const listener of source.listeners) listener();
    await clock.advance(10_000);
    expect(source.reads).toBeGreaterThan(5);
    expect(source.reads).toBeLessThan(15);
  });

  it('stays while it cannot be read, which is told of once', async () => {
    const { source, clock, changes, logged, certificates, change } = world();
    const good = source.read;
    await certificates.first();
    certificates.follow();
    source.read = () => Promise.reject(new Error('no certificate'));
    await clock.advance(120_000);
    const words = "the certificates of the node's API could not be read again; those of before stay";
    expect([changes, logged]).toEqual([[], [words]]);
    source.read = good;
    change();
    await clock.advance(30_000);
    expect(changes).toEqual([source.pair.cert]);
    source.read = () => new Promise<never>(() => {});
    await clock.advance(120_000);
    expect(logged.filter((message) => message === words)).toHaveLength(2);
  });

  it('that cannot be read again is a problem with the end of the one that stays, until it can be read', async () => {
    const { source, clock, lines, certificates } = world();
    const good = source.read;
    await certificates.first();
    certificates.follow();
    expect(certificates.problem()).toBeUndefined();
    source.read = () => Promise.reject(new Error('the file /tls.crt cannot be read: ENOENT'));
    await clock.advance(70_000);
    const problem = certificates.problem();
    expect(problem).toMatchObject({
      kind: 'certificate-files',
      attempt: 2,
      since: clock.now() - 40_000,
      retryAt: clock.now() + 20_000,
    });
    expect(problem?.message).toMatch(
      /^the certificates of the node's API could not be read again, and those of before stay, whose certificate ends at \d{4}-.*Z: the file \/tls.crt cannot be read: ENOENT$/,
    );
    expect(problem?.help).toContain('Mend the file');
    const fields = { problemKind: 'certificate-files', attempt: 1, retryInMs: 30_000, help: problem?.help };
    expect(lines[0]).toEqual(expect.objectContaining(fields));
    source.read = good;
    await clock.advance(20_000);
    expect(certificates.problem()).toBeUndefined();
    expect(lines.at(-1)).toEqual({ attempt: 2, failingForMs: 60_000 });
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
    ['gives half of it', async () => ({ cert: authority.issue().cert, key: '' })],
    ['gives a key of another', async () => ({ cert: authority.issue().cert, key: authority.issue().key })],
    ['gives nothing', async () => undefined as never],
  ])('is needed at the start: a source that %s rejects it', async (_, read) => {
    await expect(world({ read }).certificates.first()).rejects.toThrow();
  });

  it('may come late, where the source says so', async () => {
    const { source, changes, certificates } = world({ comesLate: true });
    expect(await certificates.first()).toEqual({});
    expect(source.reads).toBe(0);
    certificates.follow();
    await settle(20);
    expect(changes).toEqual([source.pair.cert]);
  });

  it('is followed no more after the end', async () => {
    const { source, clock, closing, certificates } = world();
    await certificates.first();
    certificates.follow();
    closing.abort();
    await certificates.stop();
    await clock.advance(120_000);
    expect([source.reads, source.stops, source.listeners.size, clock.pendingTimers]).toEqual([1, 1, 0, 0]);
  });

  it.each([
    [
      'throws',
      {
        onChange: () => {
          throw new Error('no');
        },
        stop: () => {
          throw new Error('no');
        },
      },
    ],
    ['answers nonsense', { onChange: () => 7 as never, stop: () => 7 as never }],
  ])('does not suffer from a source that %s', async (_, more) => {
    const { certificates, clock, source } = world(more);
    await certificates.first();
    certificates.follow();
    await clock.advance(30_000);
    expect(source.reads).toBe(2);
    await certificates.stop();
  });
});

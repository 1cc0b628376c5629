import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import { readRequest } from '../../../support/request-signer.ts';
import { until } from '../../../support/until.ts';
import { hourMs, signerWorld } from './signer-world.ts';

type World = ReturnType<typeof signerWorld>;

/** A source that has asked for its first certificate, and how often it has told of a change. */
async function askingSource(world: World) {
  const source = world.start();
  const changes = { count: 0 };
  source.onChange(() => {
    changes.count += 1;
  });
  await expect(source.read()).rejects.toThrow('the API of the node has no certificate');
  await world.asked(1);
  return { source, changes };
}

/** A source whose first certificate is signed. */
async function signedSource(world: World, signing: Parameters<World['sign']>[0] = {}) {
  const asking = await askingSource(world);
  const cert = world.sign(signing);
  await world.pass(2000);
  return { ...asking, cert };
}

const namesOf = (request: string): unknown[] => readRequest(request).names.map(({ dNSName, iPAddress }) => dNSName ?? iPAddress);

describe('a certificate by request', () => {
  it('is asked for with the names of the node, and comes once it is approved and signed', async () => {
    const world = signerWorld();
    const { source, changes } = await askingSource(world);
    const usages = ['digital signature', 'server auth'];
    expect(world.requests[0]?.spec).toMatchObject({ signerName: 'kubernetes.io/kubelet-serving', usages });
    const { subject } = readRequest(world.lastRequest()).info;
    expect(subject.map((part) => part[0]?.value.toString())).toEqual(['system:nodes', 'system:node:node-1']);
    expect(namesOf(world.lastRequest())).toEqual(['node-1', '10.0.0.1']);
    await world.pass(1000);
    expect(source.problem()).toMatchObject({
      kind: 'certificate-pending',
      message: 'the API of the node has no certificate: the request csr-1 waits to be approved',
      help: 'Approve the request: kubectl certificate approve csr-1.',
    });
    const cert = world.sign();
    await world.pass(2000);
    expect((await source.read()).cert).toBe(cert);
    expect([changes.count, source.problem()]).toEqual([1, undefined]);
  });

  it('that is approved and not signed says who is missing', async () => {
    const world = signerWorld();
    const { source } = await askingSource(world);
    world.setStatus({ conditions: [{ type: 'Approved' }] });
    await world.pass(1000);
    const help = expect.stringContaining('kube-controller-manager');
    expect(source.problem()).toMatchObject({ kind: 'certificate-unsigned', help });
  });

  it('is looked at less and less often, and never more than 15 s apart', async () => {
    const world = signerWorld();
    await askingSource(world);
    const looks = (): number => world.calls.filter((call) => call.startsWith('GET')).length;
    await world.pass(10_000);
    const early = looks();
    await world.pass(60_000);
    const before = looks();
    await world.pass(150_000);
    expect([early, looks() - before]).toEqual([5, 10]);
  });

  it('is renewed after 80 % of its life where chance is even, with a new key', async () => {
    const world = signerWorld();
    const { source, changes } = await signedSource(world);
    const { key } = await source.read();
    await world.pass(8 * hourMs - 60_000, 10_000);
    expect(world.requests).toHaveLength(1);
    await world.pass(90_000, 10_000);
    await world.asked(2);
    // the old one is good for as long as the new one waits
    expect((await source.read()).key).toBe(key);
    expect(source.problem()).toBeUndefined();
    await world.pass(60_000);
    expect(source.problem()?.message).toMatch(
      /, which ends at 2000-01-01T10:00:0\d\.000Z, could not be renewed: the request csr-2 waits/,
    );
    const cert = world.sign();
    await world.pass(16_000);
    const renewed = await source.read();
    expect([renewed.cert, renewed.key === key, changes.count]).toEqual([cert, false, 2]);
  });

  it('that has ended is not shown any more', async () => {
    const world = signerWorld();
    const { source } = await signedSource(world);
    await world.pass(10 * hourMs, 10_000);
    await expect(source.read()).rejects.toThrow('the API of the node has no certificate');
  });

  it('of a very short life costs a request in half a minute, and not more', async () => {
    const world = signerWorld();
    const now = world.clock.now();
    await signedSource(world, { notBefore: now - 10 * hourMs, notAfter: now + hourMs });
    await world.pass(20_000);
    expect(world.requests).toHaveLength(1);
    await world.pass(20_000);
    await world.asked(2);
  });

  it('waits at least as long as chance says: 70 to 90 %', async () => {
    for (const [chance, hours] of [
      [0, 7],
      [1, 9],
    ] as const) {
      const world = signerWorld({ random: () => chance });
      await signedSource(world);
      await world.pass(hours * hourMs - 60_000, 10_000);
      expect(world.requests).toHaveLength(1);
      await world.pass(120_000, 10_000);
      await world.asked(2);
    }
  });
});

describe('a request that was denied', () => {
  it('says in whose words, and when the next one is made; the waits grow to five minutes', async () => {
    const world = signerWorld();
    const { source } = await askingSource(world);
    const deny = (): void => {
      world.setStatus({ conditions: [{ type: 'Denied', reason: 'Policy', message: 'no node\n of ours' }] });
    };
    deny();
    await world.pass(600);
    const problem = source.problem();
    expect(problem).toMatchObject({
      kind: 'certificate-denied',
      message: 'the API of the node has no certificate: the request csr-1 was denied (Policy): no node of ours',
      attempt: 1,
      help: expect.stringContaining('kubectl describe csr csr-1'),
    });
    expect((problem?.retryAt ?? 0) - world.clock.now()).toBeGreaterThan(1500);
    expect(world.log.saying('the node got no certificate')).toHaveLength(1);
    const gaps: number[] = [];
    let last = world.clock.now();
    for (let count = 2; count <= 10; count++) {
      while (world.requests.length < count) await world.pass(500, 500);
      gaps.push(world.clock.now() - last);
      last = world.clock.now();
      deny();
    }
    expect(Math.max(...gaps)).toBeLessThan(320_000);
    expect(gaps.at(-1)).toBeGreaterThan(290_000);
    expect(source.problem()?.message).toContain('waits to be approved');
  });

  it('without an end of words is cut, and what stands there instead of conditions counts for nothing', async () => {
    const world = signerWorld();
    const { source } = await askingSource(world);
    for (const status of [
      null,
      'x',
      { conditions: 'Denied' },
      { conditions: [null, 5] },
      { certificate: 7 },
      { certificate: 'AAAA' },
    ]) {
      world.setStatus(status);
      await world.pass(5000);
      expect(source.problem()?.kind).toBe('certificate-pending');
    }
    world.setStatus({ conditions: [{ type: 'Denied', reason: 'r'.repeat(100_000), message: 'm'.repeat(100_000) }] });
    await world.pass(16_000);
    expect(source.problem()?.message.length).toBeLessThan(1300);
  });
});

describe('a request that ends otherwise', () => {
  it('is given up after a quarter of an hour, and made anew', async () => {
    const world = signerWorld();
    const { source } = await askingSource(world);
    await world.pass(15 * 60_000 + 1000);
    expect(source.problem()?.message).toBe(
      'the API of the node has no certificate: nobody has approved the request csr-1 within 15 minutes',
    );
    await world.pass(3000);
    await world.asked(2);
  });

  it('is made anew when it is deleted, or another one has its name', async () => {
    const world = signerWorld();
    const { source } = await askingSource(world);
    const [first] = world.requests;
    if (first !== undefined) first.metadata.uid = 'other';
    await world.pass(600);
    expect(source.problem()).toMatchObject({
      kind: 'certificate-unusable',
      message: 'the API of the node has no certificate: the request csr-1 was deleted before it was signed',
    });
  });

  it.each([
    ['of another key', (world: World) => world.signer.cert, 'the certificate is of another key'],
    [
      'that cannot be read',
      () => '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
      'the certificate cannot be read',
    ],
    [
      'that has ended',
      (world: World) => {
        const now = world.clock.now();
        return world.signer.sign(world.lastRequest(), { notBefore: now - 2 * hourMs, notAfter: now - hourMs });
      },
      'it has ended already',
    ],
  ])('a certificate %s is not taken', async (_name, certOf, words) => {
    const world = signerWorld();
    const { source, changes } = await askingSource(world);
    const certificate = Buffer.from(certOf(world)).toString('base64');
    world.setStatus({ conditions: [{ type: 'Approved' }], certificate });
    await world.pass(600);
    expect(source.problem()?.message).toContain(`what was signed for csr-1 is of no use: ${words}`);
    expect(changes.count).toBe(0);
  });

  it('a certificate without the names is shown, and the next one asked for', async () => {
    const world = signerWorld();
    const { source, changes } = await signedSource(world, { withoutNames: true });
    await source.read();
    expect(changes.count).toBe(1);
    expect(source.problem()?.message).toContain('the certificate that was signed for csr-1 lacks node-1');
    await world.pass(3000);
    await world.asked(2);
  });

  it('goes on being looked at while the server does not answer, and says so', async () => {
    const world = signerWorld();
    const { source } = await askingSource(world);
    world.answerWith((request) => {
      if (request.method === 'GET') throw new ApiError({ status: 403, reason: 'Forbidden', message: 'no right' });
    });
    await world.pass(1000);
    expect(source.problem()).toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining('the request csr-1 could not be read: no right'),
    });
    world.answerWith(undefined);
    world.sign();
    await world.pass(16_000);
    await source.read();
    expect(world.requests).toHaveLength(1);
  });

  it('that cannot be made is made again after 2 s and at the latest after 32 s', async () => {
    const world = signerWorld();
    let posts = 0;
    world.answerWith((request) => {
      if (request.method === 'POST') posts += 1;
      throw new ApiError({ status: 403, reason: 'Forbidden', message: 'no right' });
    });
    const source = world.start();
    await source.read().catch(() => {});
    await until(() => posts === 1);
    await world.pass(300);
    expect(source.problem()).toMatchObject({
      kind: 'forbidden',
      message: 'the API of the node has no certificate: no right',
      attempt: 1,
    });
    await world.pass(300_000);
    const before = posts;
    await world.pass(360_000);
    expect(posts - before).toBeGreaterThanOrEqual(9);
  });

  it('whose server never settles a call is given up', async () => {
    const world = signerWorld();
    let posts = 0;
    world.answerWith((request) => {
      if (request.method === 'POST') posts += 1;
      return new Promise(() => {});
    });
    const source = world.start();
    await source.read().catch(() => {});
    await until(() => posts === 1);
    await world.pass(40_000);
    await until(() => posts === 2);
    expect(source.problem()?.kind).toBe('timeout');
  });
});

describe('the addresses of the node', () => {
  it('that change while a request waits end it: the next one has the new ones, at once', async () => {
    const world = signerWorld();
    const { source } = await askingSource(world);
    world.setAddresses([{ type: 'InternalIP', address: '10.0.0.2' }]);
    await world.pass(11_000);
    await world.asked(2);
    expect(namesOf(world.lastRequest())).toEqual(['10.0.0.2']);
    expect(source.problem()?.attempt).toBe(0);
  });

  it('of which the certificate lacks one bring a new request; one that is gone does not', async () => {
    const world = signerWorld();
    const { source } = await signedSource(world);
    world.setAddresses([{ type: 'InternalIP', address: '10.0.0.1' }]);
    await world.pass(30_000);
    expect(world.requests).toHaveLength(1);
    world.setAddresses([
      { type: 'InternalIP', address: '10.0.0.1' },
      { type: 'ExternalIP', address: '2001:db8::7' },
    ]);
    await world.pass(11_000);
    await world.asked(2);
    expect(namesOf(world.lastRequest())).toEqual(['10.0.0.1', '2001:db8::7']);
    await source.read();
  });

  it('that are no IP are waited for, and a function that throws has none', async () => {
    const world = signerWorld();
    world.setAddresses([{ type: 'Hostname', address: 'node-1' }]);
    const source = world.start();
    await source.read().catch(() => {});
    await world.pass(1000);
    expect(source.problem()).toMatchObject({ kind: 'certificate-addresses' });
    expect(world.requests).toEqual([]);
    world.setAddresses([{ type: 'InternalIP', address: '10.0.0.1' }]);
    await world.pass(10_000);
    await world.asked(1);
    const broken = signerWorld({
      names: () => {
        throw new Error('no addresses');
      },
    });
    const other = broken.start();
    await other.read().catch(() => {});
    await broken.pass(1000);
    expect(other.problem()?.kind).toBe('certificate-addresses');
  });
});

describe('a source of certificates by request', () => {
  it('shows no part of a key in an inspection, a log line or a problem', async () => {
    const world = signerWorld();
    const { source } = await signedSource(world);
    const { key } = await source.read();
    const secret = key.split('\n')[1] ?? '';
    expect(secret.length).toBeGreaterThan(20);
    const shown = inspect([source, world.log.lines, source.problem()], { depth: 20, showHidden: true });
    expect([shown.includes(secret), shown.includes('PRIVATE KEY')]).toEqual([false, false]);
  });

  it('leaves no timer and asks nobody once it is stopped', async () => {
    const world = signerWorld();
    const { source } = await askingSource(world);
    await source.stop();
    expect(world.clock.pendingTimers).toBe(0);
    await expect(source.read()).rejects.toThrow('the server is closed');
    const calls = world.calls.length;
    await world.pass(60_000);
    expect(world.calls).toHaveLength(calls);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('no encoder')), 'no encoder'],
    ['answers something else', () => 'x', 'makeCertificateRequest answered no certificate request as PEM'],
  ])('whose function for requests %s says so, and goes on', async (_name, makeRequest, words) => {
    const world = signerWorld({ makeRequest });
    const source = world.start();
    await source.read().catch(() => {});
    await until(() => source.problem() !== undefined);
    expect(source.problem()?.message).toContain(words);
    expect(world.requests).toEqual([]);
  });
});

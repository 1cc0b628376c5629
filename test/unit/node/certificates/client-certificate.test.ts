import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ClientConfig } from '../../../../src/client/kubeconfig/client-config.ts';
import { KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { createCertificateAuthority } from '../../../support/certificate-authority.ts';
import { readRequest } from '../../../support/request-signer.ts';
import { until } from '../../../support/until.ts';
import { serverWithSigner, token } from './apiserver-with-signer.ts';
import { hourMs } from './signer-world.ts';

type World = Awaited<ReturnType<typeof serverWithSigner>>;

/** Whom the apiserver sees in requests of this kubeconfig. */
function senderOf(kubeConfig: ClientConfig): () => Promise<unknown> {
  const transport = new KubeTransport(kubeConfig, { logger: null });
  onTestFinished(() => transport.close());
  return async () => (await transport.request({ method: 'GET', path: '/who' })).sender;
}

/** A node that has got its first certificate by a token. */
async function bootstrapped(world: World) {
  await world.giveToken();
  const certificate = world.node();
  const kubeConfig = await certificate.start();
  await world.passUntil(() => world.requests.length === 1);
  world.sign();
  await world.passUntil(() => world.log.saying('the node has a new certificate').length === 1);
  return { certificate, kubeConfig, sender: senderOf(kubeConfig) };
}

describe('a node without a certificate', () => {
  it('asks for one with its token, and its requests have it once it is signed', async () => {
    const world = await serverWithSigner();
    await world.giveToken();
    const certificate = world.node();
    const kubeConfig = await certificate.start();
    const sender = senderOf(kubeConfig);
    await expect(sender()).rejects.toMatchObject({ reason: 'NoCredentials' });
    await world.passUntil(() => world.requests.length === 1);
    expect(world.askedBy).toEqual([`Bearer ${token}`]);
    const [request] = world.requests;
    expect(request?.spec).toMatchObject({
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
    });
    const { info, names } = readRequest(Buffer.from(request?.spec.request ?? '', 'base64').toString());
    expect(info.subject.map((part) => part[0]?.value.toString())).toEqual(['system:nodes', 'system:node:node-1']);
    expect([names.length, info.attributes.length]).toEqual([0, 0]);
    await world.passUntil(() => certificate.problem()?.kind === 'certificate-pending');
    expect(certificate.problem()?.message).toBe('the node has no client certificate: the request csr-1 waits to be approved');
    world.sign();
    await world.passUntil(() => world.log.saying('the node has a new certificate').length === 1);
    expect([await sender(), certificate.problem()]).toEqual([expect.stringMatching(/^[0-9A-F]{32}$/), undefined]);
  });

  it("leaves the kubelet's kubeconfig and file, and a restart asks nobody", async () => {
    const world = await serverWithSigner();
    const { certificate, sender } = await bootstrapped(world);
    const first = await sender();
    const text = await readFile(world.files.kubeconfig, 'utf8');
    expect(text).toContain(`client-certificate: ${world.pem}`);
    expect(text).toContain('current-context: default-context');
    expect(text).not.toContain(token);
    const modes = await Promise.all([stat(world.files.kubeconfig), stat(world.pem)]);
    expect(modes.map(({ mode }) => (mode & 0o777).toString(8))).toEqual(['600', '600']);
    await certificate.stop();
    // kubeadm removes the token after a join
    await rm(world.files.bootstrapKubeconfig);
    const again = world.node();
    expect(await senderOf(await again.start())()).toBe(first);
    expect(world.requests).toHaveLength(1);
  });

  it('and without rotation waits for it, then writes the kubeconfig, and asks no more', async () => {
    const world = await serverWithSigner();
    await world.giveToken();
    const certificate = world.node({ rotateCertificates: false });
    const started = certificate.start();
    await world.passUntil(() => world.requests.length === 1);
    await expect(stat(world.files.kubeconfig)).rejects.toThrow('ENOENT');
    world.sign();
    let kubeConfig: ClientConfig | undefined;
    void started.then((given) => {
      kubeConfig = given;
    });
    await world.passUntil(() => kubeConfig !== undefined);
    expect(await senderOf(await started)()).toMatch(/^[0-9A-F]{32}$/);
    expect(await readFile(world.files.kubeconfig, 'utf8')).toContain(world.pem);
    await world.clock.advance(9 * hourMs);
    expect([world.requests.length, certificate.problem()]).toEqual([1, undefined]);
  });

  it('stops waiting when it is told to', async () => {
    const world = await serverWithSigner();
    await world.giveToken();
    const certificate = world.node({ rotateCertificates: false });
    const abort = new AbortController();
    const started = certificate.start({ signal: abort.signal });
    started.catch(() => {});
    await world.passUntil(() => world.requests.length === 1);
    abort.abort(new Error('enough'));
    await expect(started).rejects.toThrow('enough');
    const other = world.node({ rotateCertificates: false });
    const stopped = other.start();
    stopped.catch(() => {});
    await world.passUntil(() => world.requests.length === 2);
    await other.stop();
    await expect(stopped).rejects.toThrow('no longer renewed');
  });
});

describe('a process that waits for its first certificate', () => {
  it('lives until it is there, also where nothing else keeps it alive', async () => {
    const world = await serverWithSigner();
    await world.giveToken();
    const module = new URL('../../../../src/node/certificates/client-certificate.ts', import.meta.url).href;
    const options = JSON.stringify({ nodeName: 'node-1', ...world.files });
    const program = `
      import { NodeClientCertificate } from ${JSON.stringify(module)};
      const certificate = new NodeClientCertificate(${options});
      await certificate.start();
      console.log('it is there');
      await certificate.stop();`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'close');
    const said = Promise.all([text(child.stdout), text(child.stderr)]);
    await until(() => world.requests.length === 1 || child.exitCode !== null);
    world.sign({ notBefore: Date.now() - hourMs, notAfter: Date.now() + hourMs });
    expect([await said, await ended]).toEqual([
      ['it is there\n', ''],
      [0, null],
    ]);
  });

  it('and that is told to stop asks nothing more', async () => {
    const world = await serverWithSigner();
    await world.giveToken();
    const abort = new AbortController();
    const certificate = world.node({ rotateCertificates: false });
    const started = certificate.start({ signal: abort.signal });
    started.catch(() => {});
    await world.passUntil(() => world.requests.length === 1);
    abort.abort(new Error('enough'));
    await expect(started).rejects.toThrow('enough');
    expect([world.clock.pendingTimers, certificate.problem()]).toEqual([0, undefined]);
  });

  it.each([true, false])('and that is stopped while files are read asks nothing at all, with rotation: %s', async (rotate) => {
    const world = await serverWithSigner();
    await world.giveToken();
    const certificate = world.node({ rotateCertificates: rotate });
    const started = certificate.start();
    started.catch(() => {});
    await certificate.stop();
    await expect(started).rejects.toThrow('no longer renewed');
    expect(world.clock.pendingTimers).toBe(0);
    const abort = new AbortController();
    const signalled = world.node({ rotateCertificates: rotate }).start({ signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(signalled).rejects.toThrow('enough');
    expect([world.clock.pendingTimers, world.requests]).toEqual([0, []]);
  });
});

describe('a client certificate', () => {
  it('is renewed with itself after 80 % of its life, and requests have the new one without a restart', async () => {
    const world = await serverWithSigner();
    const { sender, certificate } = await bootstrapped(world);
    const first = await sender();
    await world.clock.advance(8 * hourMs);
    await world.passUntil(() => world.requests.length === 2);
    expect(world.askedBy[1]).toBe(first);
    expect(await sender()).toBe(first);
    world.sign();
    const before = await readFile(world.pem, 'utf8');
    await world.passUntil(() => world.log.saying('the node has a new certificate').length === 2);
    expect(await sender()).not.toBe(first);
    expect(await readFile(world.pem, 'utf8')).not.toBe(before);
    expect(certificate.problem()).toBeUndefined();
  });

  it('that has ended is asked for with a token, as soon as there is one', async () => {
    const world = await serverWithSigner();
    const { certificate, sender } = await bootstrapped(world);
    await rm(world.files.bootstrapKubeconfig);
    world.clock.jump(11 * hourMs);
    await world.passUntil(() => certificate.problem() !== undefined);
    expect(certificate.problem()?.message).toBe(
      `the node has no client certificate: there is no bootstrap kubeconfig ${world.files.bootstrapKubeconfig}`,
    );
    expect(world.requests).toHaveLength(1);
    await world.giveToken();
    await world.passUntil(() => world.requests.length === 2);
    expect(world.askedBy[1]).toBe(`Bearer ${token}`);
    world.sign();
    await world.passUntil(() => world.log.saying('the node has a new certificate').length === 2);
    expect([await sender(), certificate.problem()]).toEqual([expect.stringMatching(/^[0-9A-F]{32}$/), undefined]);
  });

  it('of a kubeconfig that kubeadm wrote is kept in the folder, and renewed at once', async () => {
    const world = await serverWithSigner();
    const given = createCertificateAuthority('kubeadm').issueClient({ commonName: 'system:node:node-1' });
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const user = { 'client-certificate-data': base64(given.cert), 'client-key-data': base64(given.key) };
    const text = world.kubeconfigText(user);
    await writeFile(world.files.kubeconfig, text);
    const certificate = world.node();
    const sender = senderOf(await certificate.start());
    expect(await readFile(world.pem, 'utf8')).toContain(given.cert.trim());
    const first = await sender();
    await world.passUntil(() => world.requests.length === 1);
    expect(world.askedBy).toEqual([first]);
    world.sign();
    await world.passUntil(() => world.log.saying('the node has a new certificate').length === 1);
    expect(await sender()).not.toBe(first);
    expect(await readFile(world.files.kubeconfig, 'utf8')).toBe(text);
  });

  it('is in no inspection, log line or problem, and neither is a token', async () => {
    const world = await serverWithSigner();
    const { certificate } = await bootstrapped(world);
    const pem = await readFile(world.pem, 'utf8');
    const key = pem.split('PRIVATE KEY-----\n')[1]?.split('\n')[0] ?? 'no key';
    const shown = inspect([certificate, world.log.lines], { depth: 20, showHidden: true });
    expect(key).toMatch(/^[A-Za-z0-9+/=]{60,}$/);
    expect(shown).not.toContain(key);
    expect(shown).not.toContain(token);
  });
});

describe('the start of a client certificate', () => {
  it('says which file is missing', async () => {
    const world = await serverWithSigner();
    await expect(world.node({ bootstrapKubeconfig: undefined }).start()).rejects.toThrow(
      `the kubeconfig ${world.files.kubeconfig} is not there`,
    );
    await expect(world.node().start()).rejects.toThrow(`there is no bootstrap kubeconfig ${world.files.bootstrapKubeconfig}`);
  });

  it.each([
    ['noise', () => '{{{'],
    ['no cluster', () => '{}'],
    ['a token instead of a certificate', (world: World) => world.kubeconfigText({ token: 'x' })],
    [
      'a certificate that has ended',
      (world: World) => {
        const { cert, key } = createCertificateAuthority('x').issueClient({ commonName: 'n', notAfter: '700101000000Z' });
        const [certData, keyData] = [cert, key].map((pem) => Buffer.from(pem).toString('base64'));
        return world.kubeconfigText({ 'client-certificate-data': certData, 'client-key-data': keyData });
      },
    ],
  ])('with a kubeconfig of %s takes the bootstrap kubeconfig, and says why', async (_name, text) => {
    const world = await serverWithSigner();
    await world.giveToken();
    await writeFile(world.files.kubeconfig, text(world));
    await world.node().start();
    await world.passUntil(() => world.requests.length === 1);
    expect(world.askedBy).toEqual([`Bearer ${token}`]);
    expect(world.log.of('warn')).toContain('the kubeconfig of the node is of no use: a certificate is asked for');
    expect(await readFile(world.files.kubeconfig, 'utf8')).toContain(world.pem);
  });

  it('without a bootstrap kubeconfig uses what the kubeconfig has', async () => {
    const world = await serverWithSigner();
    await writeFile(world.files.kubeconfig, world.kubeconfigText({ token: 'mine' }));
    const certificate = world.node({ bootstrapKubeconfig: undefined });
    expect(await senderOf(await certificate.start())()).toBe('Bearer mine');
    expect(world.requests).toEqual([]);
  });

  it.each([
    [{ nodeName: 'a b' }, 'nodeName'],
    [{ kubeconfig: 'kubelet.conf' }, 'kubeconfig'],
    [{ bootstrapKubeconfig: '' }, 'bootstrapKubeconfig'],
    [{ certificateFolder: 'pki' }, 'certificateFolder'],
    [{ rotateCertificates: 'yes' as never }, 'rotateCertificates'],
    [{ rotate: true } as object, 'options.rotate'],
  ])('refuses %j', async (given, name) => {
    const world = await serverWithSigner();
    expect(() => world.node(given)).toThrow(`\`${name}\``);
  });
});

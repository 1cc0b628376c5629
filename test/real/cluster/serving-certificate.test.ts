import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { makeCertificateRequest } from '../../../src/certificates.ts';
import { type NodeServerOptions, type PodProvider, ProviderNode } from '../../../src/node.ts';
import { AdminClient } from '../../support/admin-client.ts';
import { requestSigner } from '../../support/request-signer.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { until } from '../../support/until.ts';

const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const hourMs = 3_600_000;
const signer = requestSigner('cluster');
let admin: AdminClient;
let adminConfig: KubeConfig;

beforeAll(() => {
  adminConfig = new KubeConfig();
  adminConfig.loadFromString(inject('controlPlaneKubeconfig'));
  admin = new AdminClient(adminConfig);
});
afterAll(() => admin.close());

interface Request {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly request: string; readonly username: string };
  status: { conditions?: object[]; certificate?: string };
}

/** The requests of this node, the oldest first. */
async function requestsOf(nodeName: string): Promise<Request[]> {
  const { body } = await admin.send('GET', path);
  const { items } = body as unknown as { items: Request[] };
  return items.filter(({ spec }) => subjectText(spec.request).includes(`system:node:${nodeName}`));
}

function subjectText(request: string): string {
  const pem = Buffer.from(request, 'base64').toString();
  return Buffer.from(pem.replace(/-----[^-]*-----/g, ''), 'base64').toString('latin1');
}

/** Says yes or no, as `kubectl certificate` does. */
async function decide(request: Request, type: 'Approved' | 'Denied'): Promise<void> {
  const condition = { type, status: 'True', reason: 'Test', message: 'by a test' };
  const body = { ...request, status: { conditions: [condition] } } as never;
  expect((await admin.send('PUT', `${path}/${request.metadata.name}/approval`, { body })).status).toBe(200);
}

/** Signs, in the place of kube-controller-manager, which is not there. */
async function sign({ metadata: { name }, spec }: Request): Promise<string> {
  const now = Date.now();
  const request = Buffer.from(spec.request, 'base64').toString();
  const cert = signer.sign(request, { notBefore: now - hourMs, notAfter: now + 10 * hourMs });
  const newest = (await admin.send('GET', `${path}/${name}`)).body as unknown as Request;
  const status = { ...newest.status, certificate: Buffer.from(cert).toString('base64') };
  expect((await admin.send('PUT', `${path}/${name}/status`, { body: { ...newest, status } as never })).status).toBe(200);
  return cert;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** What a client meets that trusts the signer: whom the certificate names, or the error. */
function handshake(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket: TLSSocket = connect({ host: '127.0.0.1', port, ca: [signer.cert] }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.on('error', (error) => resolve(`error: ${error.message}`));
  });
}

const provider: PodProvider = { createPod() {}, deletePod() {}, getPodStatus: () => ({ phase: 'Running' }) };

async function servedNode(nodeName: string, more: Partial<NodeServerOptions> = {}) {
  const port = await freePort();
  const node = new ProviderNode({
    kubeConfig: adminConfig,
    ...{ nodeName, provider, logger: null, removeOnStop: true },
    addresses: [
      { type: 'InternalIP', address: '127.0.0.1' },
      { type: 'Hostname', address: nodeName },
    ],
    server: { serverTLSBootstrap: true, makeCertificateRequest, address: '127.0.0.1', port, ...more },
  });
  onTestFinished(async () => void (await node.stop()));
  await node.start();
  return { node, port };
}

describe('a serving certificate before a real apiserver', () => {
  it('is asked for, approved, signed, shown, and kept over a restart', async () => {
    const certificateFolder = await tempDir();
    const { node, port } = await servedNode('cert-node', { certificateFolder });
    expect(await handshake(port)).toMatch(/^error: /);
    await until(async () => (await requestsOf('cert-node')).length === 1);
    const [request] = await requestsOf('cert-node');
    if (request === undefined) throw new Error('there is no request');
    const kinds = () => node.snapshot().problems.map(({ kind }) => kind);
    expect(kinds()).toContain('certificate-pending');
    await decide(request, 'Approved');
    await until(() => kinds().includes('certificate-unsigned'));
    await sign(request);
    await until(async () => (await handshake(port)) === 'system:node:cert-node');
    expect(kinds()).toEqual([]);
    await node.stop();
    const again = await servedNode('cert-node', { certificateFolder });
    await until(async () => (await handshake(again.port)) === 'system:node:cert-node');
    expect(await requestsOf('cert-node')).toHaveLength(1);
  });

  it('that is denied is told in the words of whoever denied it, and asked for again', async () => {
    const { node } = await servedNode('denied-node');
    await until(async () => (await requestsOf('denied-node')).length === 1);
    const [request] = await requestsOf('denied-node');
    if (request === undefined) throw new Error('there is no request');
    await decide(request, 'Denied');
    const problem = () => node.snapshot().problems.find(({ kind }) => kind === 'certificate-denied');
    await until(() => problem() !== undefined);
    expect(problem()?.message).toContain(`the request ${request.metadata.name} was denied (Test): by a test`);
    await until(async () => (await requestsOf('denied-node')).length === 2);
  });
});

import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';
import {
  NodeClientCertificate,
  type NodeClientCertificateOptions,
} from '../../../../src/node/certificates/client-certificate.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { createCertificateAuthority } from '../../../support/certificate-authority.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { requestSigner, type Signing } from '../../../support/request-signer.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { until } from '../../../support/until.ts';
import { hourMs, type StoredRequest } from './signer-world.ts';

const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
export const token = 'abcdef.0123456789abcdef';

/** Who has sent a request: the serial number of its client certificate, or its token. */
function senderOf(request: IncomingMessage): string {
  const { serialNumber } = (request.socket as TLSSocket).getPeerCertificate() ?? {};
  return serialNumber ?? request.headers.authorization ?? 'nobody';
}

/** An apiserver over TLS that keeps requests for certificates, and a node that asks it. */
export async function serverWithSigner() {
  const clock = new FakeClock();
  const signer = requestSigner('cluster');
  const authority = createCertificateAuthority('server');
  const log = recordedLines();
  const requests: StoredRequest[] = [];
  /** Who has made each of them. */
  const askedBy: string[] = [];
  const folder = await tempDir();
  const server = createServer({ ...authority.issue(), ca: signer.cert, requestCert: true, rejectUnauthorized: false });
  server.on('request', async (request, response) => {
    const answer = (status: number, body: object): void => {
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    };
    if (request.url === '/who') return answer(200, { sender: senderOf(request) });
    if (request.method === 'POST' && request.url === path) {
      const number = requests.length + 1;
      const metadata = { name: `csr-${number}`, uid: `u${number}`, resourceVersion: '1' };
      const stored = { ...(JSON.parse(await text(request)) as object), metadata, status: {} };
      requests.push(stored as unknown as StoredRequest);
      askedBy.push(senderOf(request));
      return answer(201, stored);
    }
    const found = requests.find(({ metadata }) => request.url === `${path}/${metadata.name}`);
    return found === undefined ? answer(404, { kind: 'Status', code: 404, reason: 'NotFound' }) : answer(200, found);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });

  const caData = Buffer.from(authority.cert).toString('base64');
  const kubeconfigText = (user: object): string => {
    const cluster = {
      server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      'certificate-authority-data': caData,
    };
    const [clusters, users] = [[{ name: 'own', cluster }], [{ name: 'me', user }]];
    const contexts = [{ name: 'here', context: { cluster: 'own', user: 'me' } }];
    return JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters, users, contexts, 'current-context': 'here' });
  };
  const files = {
    kubeconfig: join(folder, 'kubelet.conf'),
    bootstrapKubeconfig: join(folder, 'bootstrap.conf'),
    certificateFolder: join(folder, 'pki'),
  };
  const node = (more: Partial<NodeClientCertificateOptions> = {}): NodeClientCertificate => {
    const options = { nodeName: 'node-1', ...files, rotateCertificates: true, clock, random: () => 0.5, logger: log.logger };
    const certificate = new NodeClientCertificate({ ...options, ...more });
    onTestFinished(() => certificate.stop());
    return certificate;
  };
  return {
    ...{ clock, signer, log, requests, askedBy, folder, files, node, kubeconfigText },
    pem: join(files.certificateFolder, 'kubelet-client-current.pem'),
    giveToken: () => writeFile(files.bootstrapKubeconfig, kubeconfigText({ token })),
    /** Approves and signs the last request. Default: for 10 hours from now. */
    sign: (signing: Partial<Signing> = {}): void => {
      const last = requests.at(-1);
      if (last === undefined) throw new Error('there is no request');
      const [now, request] = [clock.now(), Buffer.from(last.spec.request, 'base64').toString()];
      const cert = signer.sign(request, { notBefore: now, notAfter: now + 10 * hourMs, ...signing });
      last.status = { conditions: [{ type: 'Approved', status: 'True' }], certificate: Buffer.from(cert).toString('base64') };
    },
    /** Lets time pass slowly, so that what goes over real sockets has its turn, until the condition holds. */
    passUntil: (condition: () => boolean): Promise<void> =>
      until(async () => {
        await clock.advance(1);
        await setImmediate();
        return condition();
      }),
  };
}

import { setImmediate } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { isJsonObject } from '../../../../src/api/json/json.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import type { KubeRequest } from '../../../../src/client/transport/kube-transport.ts';
import { namesOfNode } from '../../../../src/node/certificates/certificate-names.ts';
import { servingPurpose } from '../../../../src/node/certificates/certificate-purpose.ts';
import { makeCertificateRequest } from '../../../../src/node/certificates/certificate-request.ts';
import {
  RequestedCertificates,
  type RequestedCertificatesOptions,
} from '../../../../src/node/certificates/requested-certificates.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { requestSigner, type Signing } from '../../../support/request-signer.ts';
import { until } from '../../../support/until.ts';

export const hourMs = 3_600_000;
const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

/** A request as the server has it. */
export interface StoredRequest {
  readonly metadata: { readonly name: string; uid: string };
  readonly spec: { readonly request: string; readonly signerName: string; readonly usages: readonly string[] };
  status: unknown;
}

/** A node that asks for its certificate, on a server whose answers the test decides. */
export function signerWorld(given: Partial<RequestedCertificatesOptions> = {}) {
  const clock = new FakeClock();
  const signer = requestSigner('cluster');
  const log = recordedLines();
  const requests: StoredRequest[] = [];
  const calls: string[] = [];
  let addresses = [
    { type: 'Hostname', address: 'node-1' },
    { type: 'InternalIP', address: '10.0.0.1' },
  ];
  let answer: ((request: KubeRequest) => unknown) | undefined;

  const transport: RequestedCertificatesOptions['transport'] = {
    async request(request) {
      calls.push(`${request.method} ${request.path}`);
      const own = await answer?.(request);
      if (own !== undefined) return own as never;
      if (request.method === 'POST' && request.path === path && isJsonObject(request.body)) {
        const number = requests.length + 1;
        const stored = {
          ...request.body,
          metadata: { name: `csr-${number}`, uid: `u${number}`, resourceVersion: '1' },
          status: {},
        };
        requests.push(stored as unknown as StoredRequest);
        return structuredClone(stored) as never;
      }
      const found = requests.find(({ metadata }) => request.path === `${path}/${metadata.name}`);
      if (found === undefined) throw new ApiError({ status: 404, reason: 'NotFound', message: 'not found' });
      return structuredClone(found) as never;
    },
    stream: () => Promise.reject(new Error('nothing is watched')),
  };

  const start = (more: Partial<RequestedCertificatesOptions> = {}): RequestedCertificates => {
    const source = new RequestedCertificates({
      nodeName: 'node-1',
      purpose: servingPurpose,
      names: () => namesOfNode('node-1', addresses),
      makeRequest: makeCertificateRequest,
      folder: undefined,
      transport,
      clock,
      random: () => 0.5,
      logger: log.logger,
      ...given,
      ...more,
    });
    onTestFinished(() => source.stop());
    return source;
  };

  /** Resolves once so many requests were made: a folder is read before the first. */
  const asked = (count: number): Promise<void> => until(() => requests.length === count);

  const lastRequest = (): string => Buffer.from(requests.at(-1)?.spec.request ?? '', 'base64').toString();
  const setStatus = (status: unknown): void => {
    const last = requests.at(-1);
    if (last !== undefined) last.status = status;
  };

  return {
    ...{ clock, signer, log, requests, calls, start, asked, lastRequest, setStatus },
    setAddresses: (next: typeof addresses): void => {
      addresses = next;
    },
    /** Answers in the server's place where it gives something. */
    answerWith: (next: typeof answer): void => {
      answer = next;
    },
    /** Approves and signs the last request. Default: for 10 hours from now. */
    sign: (signing: Partial<Signing> = {}): string => {
      const now = clock.now();
      const cert = signer.sign(lastRequest(), { notBefore: now, notAfter: now + 10 * hourMs, ...signing });
      setStatus({ conditions: [{ type: 'Approved', status: 'True' }], certificate: Buffer.from(cert).toString('base64') });
      return cert;
    },
    /** Lets so much time pass in steps, so that files that are written have their turn. */
    pass: async (ms: number, stepMs = 1000): Promise<void> => {
      for (let left = ms; left > 0; left -= stepMs) {
        await clock.advance(Math.min(stepMs, left));
        await setImmediate();
      }
    },
  };
}

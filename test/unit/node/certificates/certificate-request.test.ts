import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeCertificateRequest } from '../../../../src/node/certificates/certificate-request.ts';
import { readRequest } from '../../../support/request-signer.ts';

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const contents = {
  commonName: 'system:node:node-1',
  organizations: ['system:nodes'],
  dnsNames: ['node-1', 'node-1.example.com'],
  ipAddresses: ['10.0.0.1', '2001:db8::1'],
  publicKey: publicKey.export({ type: 'spki', format: 'der' }),
  sign: (bytes: Uint8Array) => sign('sha256', bytes, privateKey),
};

describe('a request for a certificate', () => {
  it('has the user, its group, the names and the addresses, and is signed by its own key', () => {
    const { info, names } = readRequest(makeCertificateRequest(contents));
    expect(info.subject.map((part) => part[0]?.value.toString())).toEqual(['system:nodes', 'system:node:node-1']);
    expect(names.map(({ dNSName, iPAddress }) => dNSName ?? iPAddress)).toEqual([
      ...['node-1', 'node-1.example.com'],
      ...['10.0.0.1', '2001:db8::1'],
    ]);
    expect(info.version).toBe(0);
  });

  it('whose signature is of another key is seen to be wrong', () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const request = makeCertificateRequest({ ...contents, sign: (bytes) => sign('sha256', bytes, other.privateKey) });
    expect(() => readRequest(request)).toThrow('not signed by its own key');
  });
});

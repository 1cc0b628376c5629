import { describe, expect, it } from 'vitest';
import { readExecCredential } from '../../../../src/client/credentials/exec-plugin.ts';
import { selfSigned } from '../transport/self-signed.ts';
import { v1 } from './shell-plugin.ts';

const secret = 'a-very-secret-token';
const { cert, key } = selfSigned({ commonName: 'node' });
const credential = (status: unknown, rest: object = {}): string =>
  JSON.stringify({ apiVersion: v1, kind: 'ExecCredential', status, ...rest });

describe('readExecCredential', () => {
  it('takes a token', () => {
    expect(readExecCredential(credential({ token: secret }), v1)).toEqual({
      credentials: { authorization: `Bearer ${secret}`, cert: undefined, key: undefined },
      expiresAt: undefined,
    });
  });

  it('takes a certificate with its key, alone or beside a token', () => {
    const pair = { clientCertificateData: cert, clientKeyData: key };
    expect(readExecCredential(credential({ ...pair, token: '' }), v1).credentials).toEqual({
      authorization: undefined,
      cert,
      key,
    });
    expect(readExecCredential(credential({ ...pair, token: secret }), v1).credentials).toEqual({
      authorization: `Bearer ${secret}`,
      cert,
      key,
    });
  });

  it.each([
    ['2026-01-02T03:04:05Z', Date.UTC(2026, 0, 2, 3, 4, 5)],
    ['2026-01-02T03:04:05.678+02:00', Date.UTC(2026, 0, 2, 1, 4, 5)],
    [null, undefined],
  ])('reads the expirationTimestamp %s', (expirationTimestamp, expiresAt) => {
    expect(readExecCredential(credential({ token: secret, expirationTimestamp }), v1)).toMatchObject({ expiresAt });
  });

  it.each([
    ['nothing', '', 'wrote no JSON object'],
    ['bare text', secret, 'wrote no JSON object'],
    ['broken JSON', `{"token":"${secret}`, 'wrote no JSON object'],
    ['a list', `["${secret}"]`, 'wrote no JSON object'],
    ['another kind', credential({ token: secret }, { kind: 'Secret' }), 'wrote no ExecCredential'],
    [
      'another version',
      credential({ token: secret }, { apiVersion: 'client.authentication.k8s.io/v1beta1' }),
      `gave an answer that is not of the apiVersion ${v1}`,
    ],
    ['no status', credential(undefined), 'gave an answer without a status'],
    ['an empty status', credential({}), 'gave neither a token nor a certificate'],
    ['a token that is no text', credential({ token: 5 }), 'gave a token that is not a string'],
    ['a certificate alone', credential({ clientCertificateData: cert }), 'gave a certificate or a key without the other'],
    ['a key alone', credential({ token: secret, clientKeyData: key }), 'gave a certificate or a key without the other'],
    [
      'a key of another certificate',
      credential({ clientCertificateData: cert, clientKeyData: selfSigned({ commonName: 'other' }).key }),
      'gave a certificate and a key that do not belong together',
    ],
    [
      'a certificate that is none',
      credential({ clientCertificateData: secret, clientKeyData: key }),
      'gave a certificate and a key that do not belong together',
    ],
    [
      'a time that is none',
      credential({ token: secret, expirationTimestamp: 'tomorrow' }),
      'gave an expirationTimestamp that is not a time',
    ],
  ])('refuses %s, and quotes nothing', (_what, output, message) => {
    expect(() => readExecCredential(output, v1)).toThrow(expect.objectContaining({ message }));
  });
});

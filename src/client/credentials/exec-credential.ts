import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isJsonObject } from '../../api/json/json.ts';
import { canonicalTime } from '../../api/json/time.ts';
import type { JsonObject } from '../../api/json/types.ts';
import type { Credentials } from './credentials.ts';
import { PluginFailure } from './plugin-process.ts';

/** What a plugin's answer holds. */
export interface ExecCredential {
  readonly credentials: Credentials;
  /** In milliseconds since the epoch; undefined: they serve until they are refused. */
  readonly expiresAt: number | undefined;
}

/** Reads what a plugin wrote. Throws a {@link PluginFailure}, which quotes nothing of it. */
export function readExecCredential(output: string, expectedVersion: string): ExecCredential {
  const { kind, apiVersion, status } = parseObject(output);
  if (kind !== 'ExecCredential') throw new PluginFailure('wrote no ExecCredential');
  if (apiVersion !== expectedVersion) throw new PluginFailure(`gave an answer that is not of the apiVersion ${expectedVersion}`);
  if (!isJsonObject(status)) throw new PluginFailure('gave an answer without a status');
  const token = textOf(status, 'token');
  const cert = textOf(status, 'clientCertificateData');
  const key = textOf(status, 'clientKeyData');
  if ((cert === undefined) !== (key === undefined)) throw new PluginFailure('gave a certificate or a key without the other');
  if (cert !== undefined && key !== undefined) requirePair(cert, key);
  if (token === undefined && cert === undefined) throw new PluginFailure('gave neither a token nor a certificate');
  const authorization = token === undefined ? undefined : `Bearer ${token}`;
  return { credentials: { authorization, cert, key }, expiresAt: expiryOf(status) };
}

function parseObject(output: string): JsonObject {
  try {
    const value: unknown = JSON.parse(output);
    if (isJsonObject(value)) return value;
  } catch {
    // the parser's message quotes the output, so it is not kept
  }
  throw new PluginFailure('wrote no JSON object');
}

/** A member that is text; the empty text counts as absent. */
function textOf(status: JsonObject, name: string): string | undefined {
  const value = status[name] ?? '';
  if (typeof value !== 'string') throw new PluginFailure(`gave a ${name} that is not a string`);
  return value === '' ? undefined : value;
}

function requirePair(cert: string, key: string): void {
  let isPair = false;
  try {
    isPair = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    // one of them is not PEM
  }
  if (!isPair) throw new PluginFailure('gave a certificate and a key that do not belong together');
}

function expiryOf({ expirationTimestamp }: JsonObject): number | undefined {
  try {
    const time = canonicalTime(expirationTimestamp, 'expirationTimestamp');
    return time === undefined ? undefined : Date.parse(time);
  } catch {
    throw new PluginFailure('gave an expirationTimestamp that is not a time');
  }
}

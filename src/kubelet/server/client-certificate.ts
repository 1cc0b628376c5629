import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { authenticated, type Identity } from './identity.ts';

/**
 * Whom the client's certificate names: the common name is the user, the organizations are groups. Undefined without a certificate,
 * with one that no authority of the server has signed for clients, with one whose time is not now, and without a common name.
 */
export function identityOfCertificate(socket: Socket, nowMs: number): Identity | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const { subject, valid_from: from, valid_to: to } = socket.getPeerCertificate();
  // the handshake has looked at the time as well, but a connection may be older than its certificate
  if (subject === undefined || !(Date.parse(from) <= nowMs && nowMs <= Date.parse(to))) return undefined;
  const username = valuesOf(subject.CN).at(-1);
  if (username === undefined || username === '') return undefined;
  return authenticated({ username, uid: '', groups: valuesOf(subject.O), extra: {} });
}

/** True: the client has shown a certificate, good or bad. */
export function showsCertificate(socket: Socket): boolean {
  return socket instanceof TLSSocket && socket.getPeerX509Certificate() !== undefined;
}

function valuesOf(value: unknown): readonly string[] {
  const values = Array.isArray(value) ? value : [value];
  return values.filter((one) => typeof one === 'string');
}

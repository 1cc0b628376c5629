import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { authenticated, type Identity } from './reviews.ts';

/** What the certificate of a client says, and when it holds. */
interface ShownCertificate {
  /** Undefined where it names nobody. */
  readonly identity: Identity | undefined;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Whom the certificates of clients name, as Kubernetes reads them: the common name is the user, the organizations are groups. */
export class CertificateIdentities {
  /** Of each connection: reading a certificate takes longer than the rest of a request. */
  readonly #shown = new WeakMap<TLSSocket, ShownCertificate>();

  /**
   * Whom the client's certificate names. Undefined without a certificate, with one that no authority of the server has signed for
   * clients, with one whose time is not now, and without a common name.
   */
  identityOf(socket: Socket, nowMs: number): Identity | undefined {
    if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
    const shown = this.#shown.get(socket) ?? readCertificate(socket);
    this.#shown.set(socket, shown);
    // the handshake has looked at the time as well, but a connection may be older than its certificate
    return shown.fromMs <= nowMs && nowMs <= shown.toMs ? shown.identity : undefined;
  }
}

/** True: the client has shown a certificate, good or bad. */
export function showsCertificate(socket: Socket): boolean {
  return socket instanceof TLSSocket && socket.getPeerX509Certificate() !== undefined;
}

function readCertificate(socket: TLSSocket): ShownCertificate {
  const { subject, valid_from: from, valid_to: to } = socket.getPeerCertificate();
  const username = valuesOf(subject?.CN).at(-1);
  const isNamed = username !== undefined && username !== '';
  return {
    identity: isNamed ? authenticated({ username, uid: '', groups: valuesOf(subject.O), extra: {} }) : undefined,
    fromMs: Date.parse(from),
    toMs: Date.parse(to),
  };
}

function valuesOf(value: unknown): readonly string[] {
  const values = Array.isArray(value) ? value : [value];
  return values.filter((one) => typeof one === 'string');
}

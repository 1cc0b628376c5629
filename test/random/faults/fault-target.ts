import { KubeConfig } from '@kubernetes/client-node';
import type { AdminClient } from '../../support/admin-client.ts';
import type { CertificateAuthority } from '../../support/certificate-authority.ts';
import type { Checker } from '../chaos/check/checker.ts';
import type { FaultProxy } from './fault-proxy.ts';
import type { History } from './history.ts';

/** A fault of the server as a whole. */
export interface Disturbance {
  readonly kind: string;
  /** Resolves once the server is as it should be again. */
  run(): Promise<void>;
}

/** The parts of a run that a disturbance may use. */
export interface DisturbanceParts {
  readonly proxy: FaultProxy;
  readonly kubeConfig: KubeConfig;
  readonly namespace: string;
}

/** The ways to a server past the fault proxy: those of rivals and of checks. */
export interface ServerAccess {
  /** Signs the server's certificates. */
  readonly authority: CertificateAuthority;
  readonly admin: AdminClient;
  /** The token of a node agent's account. */
  newToken(namespace: string): Promise<string>;
  /** Histories that read from the server itself, each with its checker. */
  histories(namespace: string, checker: (name: string) => Checker): History[];
}

/** A server, or several over one etcd, as a fault run needs them. */
export interface FaultTarget extends AsyncDisposable {
  readonly kind: 'in-memory' | 'real' | 'two-apiservers';
  /** Where the fault proxy sends what comes in. */
  readonly url: string;
  readonly access: ServerAccess;
  disturbances(parts: DisturbanceParts): Disturbance[];
}

/** Puts server and token into a kubeconfig that is in use already, as a credential plugin would with a fresh token. */
export function pointAt(kubeConfig: KubeConfig, server: string, token: string, caPem?: string): KubeConfig {
  const ca =
    caPem === undefined ? { skipTLSVerify: true } : { skipTLSVerify: false, caData: Buffer.from(caPem).toString('base64') };
  kubeConfig.loadFromOptions({
    clusters: [{ name: 'faulty', server, ...ca }],
    users: [{ name: 'node', token }],
    contexts: [{ name: 'faulty', cluster: 'faulty', user: 'node' }],
    currentContext: 'faulty',
  });
  return kubeConfig;
}

export function kubeConfigFor(server: string, token: string, caPem?: string): KubeConfig {
  return pointAt(new KubeConfig(), server, token, caPem);
}

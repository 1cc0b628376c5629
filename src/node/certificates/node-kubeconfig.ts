// Behaviour of pkg/kubelet/certificate/bootstrap/bootstrap.go, v1.36.3.
import { X509Certificate } from 'node:crypto';
import { dirname } from 'node:path';
import type { Cluster, User } from '@kubernetes/client-node';
import { dump } from 'js-yaml';
import { errorText, ifCode, isStatusManagerError } from '../../base/errors.ts';
import type { ClientConfig } from '../../client/kubeconfig/client-config.ts';
import { clientConfigFromText } from '../../client/kubeconfig/load-client-config.ts';
import { clientConfigOf } from '../../client/kubeconfig/selected-config.ts';
import { makeFolders } from '../files/make-folders.ts';
import { replaceFile } from '../files/replace-file.ts';
import { readAtMost } from '../files/small-file.ts';
import type { ServingCertificate } from './certificate-source.ts';
import { CheckedCertificate } from './checked-certificate.ts';

/** More than any kubeconfig of a node has. */
const mostBytes = 1024 * 1024;

/** The kubeconfig of this file; undefined where there is no file. Rejects where it cannot be used: the message names it. */
export async function readKubeconfigFile(path: string): Promise<ClientConfig | undefined> {
  try {
    const text = await readAtMost(path, mostBytes).catch(ifCode('ENOENT'));
    return text === undefined ? undefined : clientConfigFromText(text, path);
  } catch (error) {
    if (isStatusManagerError(error)) throw error;
    throw new Error(`the kubeconfig ${path} cannot be read: ${errorText(error)}`);
  }
}

/**
 * The client certificate of the current user with its key. Undefined where there is none. Rejects, saying why, for one that cannot be used
 * or has ended, or a certificate of its chain has.
 */
export async function clientCertificateOf(kubeConfig: ClientConfig, now: number): Promise<CheckedCertificate | undefined> {
  const user = kubeConfig.getCurrentUser();
  const [cert, key] = [await partOf(user?.certData, user?.certFile), await partOf(user?.keyData, user?.keyFile)];
  if (cert === undefined) return undefined;
  const certificate = new CheckedCertificate({ cert, key: key ?? '' });
  const chain = cert.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  for (const pem of chain) {
    const { validToDate } = new X509Certificate(pem);
    if (now > validToDate.getTime())
      throw new Error(`a part of its client certificate has ended at ${validToDate.toISOString()}`);
  }
  return certificate;
}

async function partOf(data: string | undefined, file: string | undefined): Promise<string | undefined> {
  if (data) return Buffer.from(data, 'base64').toString('utf8');
  return file ? readAtMost(file, mostBytes) : undefined;
}

const names = { context: 'default-context', cluster: 'default-cluster', user: 'default-auth' };

/** The kubeconfig of a node, whose user is a certificate that is replaced. Names are the kubelet's. */
export class NodeKubeconfig {
  readonly config: ClientConfig;
  #user: User;

  /** The cluster of `from`, for a user with this certificate: PEM itself, or the file that has both parts. */
  constructor(from: ClientConfig, certificate: ServingCertificate | string) {
    const { context: name, cluster: clusterName, user } = names;
    const context = { name, cluster: clusterName, user, namespace: 'default' };
    const cluster = { ...(from.getCurrentCluster() as Cluster), name: clusterName };
    this.#user = userWith(certificate);
    this.config = clientConfigOf(() => ({ context, cluster, user: this.#user }));
  }

  /** From now on requests are sent with this certificate, and with nothing else of the user. */
  show(certificate: ServingCertificate | string): void {
    this.#user = userWith(certificate);
  }
}

function userWith(certificate: ServingCertificate | string): User {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return typeof certificate === 'string'
    ? { name: names.user, certFile: certificate, keyFile: certificate }
    : { name: names.user, certData: base64(certificate.cert), keyData: base64(certificate.key) };
}

/** Writes the kubeconfig of the node as the kubelet does: its user is the certificate in this file. Whoever reads meanwhile finds the old contents or the new ones. */
export async function writeNodeKubeconfig(path: string, from: ClientConfig, certificateFile: string): Promise<void> {
  const { server, caFile, caData, skipTLSVerify, tlsServerName, proxyUrl } = from.getCurrentCluster() as Cluster;
  const cluster = {
    server,
    ...(caData ? { 'certificate-authority-data': caData } : caFile && { 'certificate-authority': caFile }),
    ...(skipTLSVerify && { 'insecure-skip-tls-verify': true }),
    ...(tlsServerName && { 'tls-server-name': tlsServerName }),
    ...(proxyUrl && { 'proxy-url': proxyUrl }),
  };
  const user = { 'client-certificate': certificateFile, 'client-key': certificateFile };
  const context = { cluster: names.cluster, namespace: 'default', user: names.user };
  const text = dump({
    apiVersion: 'v1',
    clusters: [{ cluster, name: names.cluster }],
    contexts: [{ context, name: names.context }],
    'current-context': names.context,
    kind: 'Config',
    users: [{ name: names.user, user }],
  });
  await makeFolders(dirname(path), 0o755);
  await replaceFile(path, text, 0o600);
}

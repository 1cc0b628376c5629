// Behaviour of pkg/kubelet/certificate/bootstrap/bootstrap.go, v1.36.3.
import { X509Certificate } from 'node:crypto';
import { dirname } from 'node:path';
import { type Cluster, dumpYaml, KubeConfig } from '@kubernetes/client-node';
import { errorText, ifCode } from '../../base/errors.ts';
import { makeFolders } from '../files/make-folders.ts';
import { replaceFile } from '../files/replace-file.ts';
import { readAtMost } from '../files/small-file.ts';
import type { ServingCertificate } from './certificate-source.ts';
import { CheckedCertificate } from './checked-certificate.ts';

/** More than any kubeconfig of a node has. */
const mostBytes = 1024 * 1024;

/** The kubeconfig of this file; undefined where there is no file. Rejects where it cannot be used: the message names it. */
export async function readKubeconfig(path: string): Promise<KubeConfig | undefined> {
  const kubeConfig = new KubeConfig();
  try {
    const text = await readAtMost(path, mostBytes).catch(ifCode('ENOENT'));
    if (text === undefined) return undefined;
    kubeConfig.loadFromString(text);
    kubeConfig.makePathsAbsolute(dirname(path));
  } catch (error) {
    // the words of a parser quote the file
    const why = error instanceof Error && 'code' in error ? errorText(error) : 'it is no kubeconfig';
    throw new Error(`the kubeconfig ${path} cannot be read: ${why}`);
  }
  if (kubeConfig.getCurrentCluster() === null) {
    throw new Error(`the kubeconfig ${path} cannot be used: its current context names no cluster that it has`);
  }
  return kubeConfig;
}

/**
 * The client certificate of the current user with its key. Undefined where there is none. Rejects, saying why, for one that cannot be used
 * or has ended, or a certificate of its chain has.
 */
export async function clientCertificateOf(kubeConfig: KubeConfig, now: number): Promise<CheckedCertificate | undefined> {
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

/** The cluster of this kubeconfig, for a user with this certificate: PEM itself, or the file that has both parts. Names are the kubelet's. */
export function nodeKubeconfig(from: KubeConfig, certificate: ServingCertificate | string): KubeConfig {
  const kubeConfig = new KubeConfig();
  const cluster = from.getCurrentCluster() as Cluster;
  const name = 'default-cluster';
  kubeConfig.loadFromClusterAndUser({ ...cluster, name }, { name: 'default-auth' });
  showCertificate(kubeConfig, certificate);
  return kubeConfig;
}

/** From now on requests are sent with this certificate, and with nothing else of the user. */
export function showCertificate(kubeConfig: KubeConfig, certificate: ServingCertificate | string): void {
  const name = 'default-auth';
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const user =
    typeof certificate === 'string'
      ? { name, certFile: certificate, keyFile: certificate }
      : { name, certData: base64(certificate.cert), keyData: base64(certificate.key) };
  const context = {
    name: 'default-context',
    cluster: kubeConfig.getCurrentCluster()?.name ?? '',
    user: name,
    namespace: 'default',
  };
  kubeConfig.loadFromOptions({
    clusters: kubeConfig.getClusters(),
    users: [user],
    contexts: [context],
    currentContext: context.name,
  });
}

/** Writes the kubeconfig of the node as the kubelet does: its user is the certificate in this file. Whoever reads meanwhile finds the old contents or the new ones. */
export async function writeNodeKubeconfig(path: string, from: KubeConfig, certificateFile: string): Promise<void> {
  const { server, caFile, caData, skipTLSVerify, tlsServerName, proxyUrl } = from.getCurrentCluster() as Cluster;
  const cluster = {
    server,
    ...(caFile ? { 'certificate-authority': caFile } : caData && { 'certificate-authority-data': caData }),
    ...(skipTLSVerify && { 'insecure-skip-tls-verify': true }),
    ...(tlsServerName && { 'tls-server-name': tlsServerName }),
    ...(proxyUrl && { 'proxy-url': proxyUrl }),
  };
  const user = { 'client-certificate': certificateFile, 'client-key': certificateFile };
  const context = { cluster: 'default-cluster', namespace: 'default', user: 'default-auth' };
  const text = dumpYaml({
    apiVersion: 'v1',
    clusters: [{ cluster, name: 'default-cluster' }],
    contexts: [{ context, name: 'default-context' }],
    'current-context': 'default-context',
    kind: 'Config',
    users: [{ name: 'default-auth', user }],
  });
  await makeFolders(dirname(path), 0o755);
  await replaceFile(path, text, 0o600);
}

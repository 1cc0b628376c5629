import { KubeConfig } from '@kubernetes/client-node';
import { NodeClientCertificate } from 'pod-status-manager/certificates';
import type { Flags } from './flags.ts';

/** How the agent reaches the cluster. */
export interface ClusterAccess {
  readonly kubeConfig: KubeConfig;
  /** Undefined where the kubeconfig is used as it is. */
  readonly certificate: NodeClientCertificate | undefined;
}

type AccessFlags = Pick<Flags, 'kubeconfig' | 'bootstrapKubeconfig' | 'certificateFolder' | 'nodeName'>;

/** The kubeconfig, with a client certificate that is asked for or renewed where a flag or the configuration file says so. */
export async function clusterAccess(
  { kubeconfig, bootstrapKubeconfig, certificateFolder, nodeName }: AccessFlags,
  { rotateCertificates }: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<ClusterAccess> {
  if (kubeconfig !== undefined && (bootstrapKubeconfig !== undefined || rotateCertificates === true)) {
    const rotate = rotateCertificates === true;
    const files = { kubeconfig, bootstrapKubeconfig, certificateFolder };
    const certificate = new NodeClientCertificate({ nodeName, ...files, rotateCertificates: rotate });
    return { kubeConfig: await certificate.start({ signal }), certificate };
  }
  if (bootstrapKubeconfig !== undefined) throw new Error('--bootstrap-kubeconfig needs --kubeconfig, which it writes');
  const kubeConfig = new KubeConfig();
  if (kubeconfig === undefined) kubeConfig.loadFromDefault();
  else kubeConfig.loadFromFile(kubeconfig);
  return { kubeConfig, certificate: undefined };
}

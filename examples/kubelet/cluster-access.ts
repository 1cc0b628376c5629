import { type ClientConfig, isStatusManagerError, type Logger, loadClientConfig } from 'pod-status-manager';
import { NodeClientCertificate } from 'pod-status-manager/certificates';
import { ConfigError } from './config-values.ts';
import type { Flags } from './flags.ts';

/** How the agent reaches the cluster. */
export interface ClusterAccess {
  readonly kubeConfig: ClientConfig;
  /** Undefined where the kubeconfig is used as it is. */
  readonly certificate: NodeClientCertificate | undefined;
}

type AccessFlags = Pick<Flags, 'kubeconfig' | 'bootstrapKubeconfig' | 'certificateFolder' | 'nodeName'>;

/**
 * The kubeconfig, with a client certificate that is asked for or renewed where a flag or the configuration file says so. Once it rejects, nobody
 * is asked any more.
 */
export async function clusterAccess(
  { kubeconfig, bootstrapKubeconfig, certificateFolder, nodeName }: AccessFlags,
  { rotateCertificates }: Readonly<Record<string, unknown>>,
  { signal, logger }: { readonly signal: AbortSignal; readonly logger?: Logger | undefined },
): Promise<ClusterAccess> {
  const rotate = rotateCertificates === true;
  if (kubeconfig === undefined && bootstrapKubeconfig !== undefined) {
    throw new ConfigError('--bootstrap-kubeconfig needs --kubeconfig, which it writes');
  }
  if (kubeconfig === undefined && rotate) {
    throw new ConfigError('rotateCertificates: true needs --kubeconfig, whose client certificate it renews');
  }
  if (kubeconfig === undefined || (bootstrapKubeconfig === undefined && !rotate)) {
    return { kubeConfig: readAsItIs(kubeconfig), certificate: undefined };
  }
  const files = { kubeconfig, bootstrapKubeconfig, certificateFolder };
  const certificate = new NodeClientCertificate({ nodeName, ...files, rotateCertificates: rotate, logger });
  try {
    return { kubeConfig: await certificate.start({ signal }), certificate };
  } catch (error) {
    await certificate.stop();
    throw error;
  }
}

function readAsItIs(file: string | undefined): ClientConfig {
  try {
    return loadClientConfig({ file });
  } catch (error) {
    if (isStatusManagerError(error, 'ERR_KUBECONFIG')) throw new ConfigError(error.message);
    throw error;
  }
}

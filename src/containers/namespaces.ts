// Behaviour of pkg/kubelet/kuberuntime/util, v1.36.3.
import type { NamespaceOptions } from '../runtime/security.ts';
import type { Pod } from '../wire/types.ts';

/** The namespaces that the pod's sandbox and containers use. */
export function podNamespaces({ spec }: Pod): NamespaceOptions {
  return {
    network: spec?.hostNetwork === true ? 'node' : 'pod',
    pid: spec?.hostPID === true ? 'node' : spec?.shareProcessNamespace === true ? 'pod' : 'container',
    ipc: spec?.hostIPC === true ? 'node' : 'pod',
  };
}

// Behaviour of pkg/kubelet/kuberuntime/util, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import type { NamespaceOptions } from '../runtime/security.ts';

/** The namespaces that the pod's sandbox and containers use. */
export function podNamespaces({ spec }: Pod): NamespaceOptions {
  return {
    network: spec?.hostNetwork === true ? 'node' : 'pod',
    pid: spec?.hostPID === true ? 'node' : spec?.shareProcessNamespace === true ? 'pod' : 'container',
    ipc: spec?.hostIPC === true ? 'node' : 'pod',
  };
}

// Behaviour of PodSandboxChanged in pkg/kubelet/kuberuntime/util, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import type { AgentPodStatus } from '../pleg/agent-pod-status.ts';

/** Whether the pod needs a sandbox, and which attempt the sandbox in use, or the next one, is. */
export interface SandboxChange {
  readonly changed: boolean;
  readonly attempt: number;
  /** The sandbox in use, or the newest one; undefined where there is none, or the newest one is in another network. */
  readonly sandboxID: string | undefined;
}

/** A pod needs a sandbox when its newest one is not ready, is not the only ready one, or has the wrong network or none. */
export function sandboxChange(pod: Pod, { sandboxes, sandboxDetails }: AgentPodStatus): SandboxChange {
  const [newest] = sandboxes;
  const [details] = sandboxDetails;
  if (newest === undefined || details === undefined) return { changed: true, attempt: 0, sandboxID: undefined };
  const next = details.metadata.attempt + 1;
  const readyOnes = sandboxes.filter(({ ready }) => ready).length;
  if (readyOnes > 1 || !newest.ready) return { changed: true, attempt: next, sandboxID: details.id };
  const wantsHostNetwork = pod.spec?.hostNetwork === true;
  if ((newest.hostNetwork ?? false) !== wantsHostNetwork) return { changed: true, attempt: next, sandboxID: undefined };
  if (!wantsHostNetwork && newest.network?.ip === '') return { changed: true, attempt: next, sandboxID: details.id };
  return { changed: false, attempt: details.metadata.attempt, sandboxID: details.id };
}

import type { WirePod } from '../../api/json/types.ts';
import type { VersionedPodStatus } from '../cache/pod-statuses.ts';
import type { AgentView } from './agent-view.ts';
import { type ApiPod, apiPodOf } from './api-copies.ts';
import { RequestFailure } from './request-failure.ts';
import type { GateAdmission } from './request-gate.ts';
import type { SyncContext } from './sync-context.ts';

/** The pod as the apiserver has it now. Rejects with a {@link RequestFailure}, also for an answer that is no pod. */
export async function readPod(
  { gate, podClient }: SyncContext,
  podUID: string,
  { podNamespace, podName }: VersionedPodStatus,
  admission: GateAdmission,
): Promise<ApiPod> {
  const pod = await gate.send({ verb: 'get', podUID }, admission, (limits) => podClient.getPod(podNamespace, podName, limits));
  try {
    if (!isPod(pod)) throw new TypeError('getPod() must resolve to a pod');
    return apiPodOf(pod);
  } catch (error) {
    throw new RequestFailure('get', 'broken-answer', error);
  }
}

/** True for an object whose metadata has no uid, or a uid that is text. */
function isPod(pod: WirePod | null | undefined): boolean {
  const metadata = pod?.metadata;
  return typeof metadata === 'object' && metadata !== null && ['undefined', 'string'].includes(typeof metadata.uid);
}

/** True for a pod of another uid. A copy without a uid says nothing about whose it is. */
export function isOtherPod(agent: AgentView, podUID: string, copy: ApiPod): boolean {
  return copy.uid !== '' && agent.translate(copy.uid) !== podUID;
}

/**
 * True when the failure says that the apiserver has no such pod. The Node authorizer answers Forbidden, and not NotFound, for
 * a deleted pod of its node: a Forbidden for a vanished pod means the same.
 */
export function isPodGone(agent: AgentView, podUID: string, { errorClass, failure }: RequestFailure): boolean {
  if (errorClass === 'gone') return true;
  return errorClass === 'forbidden' && failure.reason === 'Forbidden' && agent.hasVanished(podUID);
}

import { type Labels, selectorFromLabels } from '../../../api/selectors/label-selector.ts';
import type { ClusterListers, SelectingObject } from '../../framework/handle.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';

/** The services of the pod's namespace that select it. One without a selector selects no pod, one with an empty selector every pod. */
export function servicesOf({ pod, namespace }: PodInfo, listers: ClusterListers): SelectingObject[] {
  return listers.services(namespace).filter((service) => {
    const selector = selectorOf(service);
    return selector !== undefined && selectorFromLabels(selector).matches(pod.metadata?.labels);
  });
}

export function selectorOf({ spec }: SelectingObject): Labels | undefined {
  return (spec?.selector as Labels | null | undefined) ?? undefined;
}

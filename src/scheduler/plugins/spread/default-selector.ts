import type { WirePod } from '../../../api/json/types.ts';
import {
  type GivenLabelSelector,
  type LabelSelector,
  type Labels,
  labelOf,
  parseLabelSelector,
  selectorFromLabels,
} from '../../../api/selectors/label-selector.ts';
import type { ClusterListers, SelectingObject } from '../../framework/handle.ts';

/**
 * The selector of the services that select the pod and of the controller that owns it, all of them together. It matches all
 * where there is none.
 */
export function defaultSelector({ metadata }: WirePod, listers: ClusterListers): LabelSelector {
  const { namespace = '', labels = {}, ownerReferences = [] } = metadata ?? {};
  let wanted: Labels = {};
  for (const { spec } of listers.services(namespace)) {
    const selector = spec?.selector as Labels | null | undefined;
    if (selector == null) continue;
    if (Object.entries(selector).every(([key, value]) => labelOf(labels, key) === value)) wanted = { ...wanted, ...selector };
  }
  let byController: LabelSelector | undefined;
  const owner = ownerReferences.find(({ controller }) => controller === true);
  const kind = `${owner?.apiVersion} ${owner?.kind}`;
  if (kind === 'v1 ReplicationController') {
    const controller = named(listers.replicationControllers(namespace), owner?.name);
    wanted = { ...wanted, ...(controller?.spec?.selector as Labels | null | undefined) };
  } else if (kind === 'apps/v1 ReplicaSet') {
    byController = controllerSelector(named(listers.replicaSets(namespace), owner?.name));
  } else if (kind === 'apps/v1 StatefulSet') {
    byController = controllerSelector(named(listers.statefulSets(namespace), owner?.name));
  }
  const byLabels = selectorFromLabels(wanted);
  if (byController === undefined || byController.matchesAll) return byLabels;
  const both = byController;
  return { matchesAll: false, matches: (other) => byLabels.matches(other) && both.matches(other) };
}

function named(objects: readonly SelectingObject[], name: string | undefined): SelectingObject | undefined {
  return objects.find(({ metadata }) => metadata?.name === name);
}

/** Undefined where the controller has no selector, or none that can be read. */
function controllerSelector(controller: SelectingObject | undefined): LabelSelector | undefined {
  const selector = controller?.spec?.selector;
  if (selector == null) return undefined;
  try {
    return parseLabelSelector('spec.selector', selector as GivenLabelSelector);
  } catch {
    return undefined;
  }
}

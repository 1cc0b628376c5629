// Behaviour of component-helpers/node/topology GetZoneKey, v0.36.3.

import type { WireNode } from '../../api/json/types.ts';
import { type Labels, labelOf } from '../../api/selectors/label-selector.ts';

/** A text for the node's region and zone together; empty for a node that names neither. The old labels come first. */
export function zoneKeyOf({ metadata }: WireNode): string {
  const labels: Labels | undefined = metadata?.labels;
  const zone = labelOf(labels, 'failure-domain.beta.kubernetes.io/zone') ?? labelOf(labels, 'topology.kubernetes.io/zone') ?? '';
  const region =
    labelOf(labels, 'failure-domain.beta.kubernetes.io/region') ?? labelOf(labels, 'topology.kubernetes.io/region') ?? '';
  return region === '' && zone === '' ? '' : `${region}:\0:${zone}`;
}

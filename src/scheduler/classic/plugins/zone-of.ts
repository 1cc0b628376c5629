import { labelOf } from '../../../placement/requirement.ts';
import type { WireNode } from '../../../wire/node-types.ts';

/** Tells the zones of nodes apart; empty for a node in no zone. Behaviour of component-helpers/node/topology GetZoneKey, v0.22.17. */
export function zoneOf({ metadata }: WireNode): string {
  const labels = metadata?.labels;
  const value = (name: string): string =>
    labelOf(labels, `failure-domain.beta.kubernetes.io/${name}`) ?? labelOf(labels, `topology.kubernetes.io/${name}`) ?? '';
  const region = value('region');
  const zone = value('zone');
  return region === '' && zone === '' ? '' : `${region}:\0:${zone}`;
}

import { labelOf } from '../../../api/selectors/label-selector.ts';
import type { Snapshot } from '../../nodes/node-info.ts';
import { DomainCounts } from '../common/domain-counts.ts';
import { hasTopologyKeys, type SpreadConstraint } from './spread-constraint.ts';

/** Lists of keys that are remembered at a time: pods of one cluster rarely have more. */
const mostLists = 100;

/** The domains of all nodes that have a list of topology keys. They are found out again when labels of nodes change. */
export class KnownDomains {
  #snapshot: Snapshot | undefined;
  #labelsVersion = -1;
  readonly #byKeys = new Map<string, readonly DomainCounts[]>();

  /** The domains of each constraint, with no pods. */
  of(snapshot: Snapshot, constraints: readonly SpreadConstraint[]): readonly DomainCounts[] {
    if (this.#snapshot !== snapshot || this.#labelsVersion !== snapshot.labelsVersion) {
      this.#byKeys.clear();
      this.#snapshot = snapshot;
      this.#labelsVersion = snapshot.labelsVersion;
    }
    const key = JSON.stringify(constraints.map(({ topologyKey }) => topologyKey));
    let domains = this.#byKeys.get(key);
    if (domains === undefined) {
      domains = domainsOf(snapshot, constraints);
      if (this.#byKeys.size >= mostLists) this.#byKeys.clear();
      this.#byKeys.set(key, domains);
    }
    return domains.map((counts) => counts.clone());
  }
}

function domainsOf({ nodes }: Snapshot, constraints: readonly SpreadConstraint[]): readonly DomainCounts[] {
  const domains = constraints.map(({ topologyKey }) => ({ topologyKey, counts: new DomainCounts() }));
  for (const { node } of nodes) {
    const labels = node.metadata?.labels;
    if (!hasTopologyKeys(labels, constraints)) continue;
    for (const { topologyKey, counts } of domains) counts.add(labelOf(labels, topologyKey) ?? '', 0);
  }
  return domains.map(({ counts }) => counts);
}

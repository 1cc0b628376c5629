import { labelOf } from '../../api/selectors/label-selector.ts';
import { type ImageAccount, imageAccountOf } from '../nodes/image-account.ts';
import { generationsOf, type NodeInfo, type Snapshot } from '../nodes/node-info.ts';
import { ImagePlaces } from './image-places.ts';
import type { ScoreColumn } from './kept-columns.ts';
import { RecurringValues } from './recurring-values.ts';

/** So many topology keys are kept: clusters have a few. */
const mostKeys = 16;
/** The number of a node without the label. */
export const noDomain = -1;

/** The domains of one topology key, numbered. */
export interface Domains {
  /** The number of the domain of each place; `noDomain` where the node lacks the label. */
  readonly at: Int32Array;
  /** The numbers, by the value of the label. */
  readonly numbers: ReadonlyMap<string, number>;
  /** The values, by their numbers. */
  readonly names: readonly string[];
  /** Every node has the label. */
  readonly isWhole: boolean;
}

/** The domains of a key as the labels of the nodes were last. */
class KeptDomains {
  readonly #key: string;
  #version = -1;
  #domains: Domains = { at: new Int32Array(0), numbers: new Map(), names: [], isWhole: true };

  constructor(key: string) {
    this.#key = key;
  }

  of(version: number, nodes: readonly NodeInfo[]): Domains {
    if (this.#version !== version) {
      this.#version = version;
      this.#domains = domainsOf(this.#key, nodes);
    }
    return this.#domains;
  }
}

function domainsOf(key: string, nodes: readonly NodeInfo[]): Domains {
  const at = new Int32Array(nodes.length);
  const numbers = new Map<string, number>();
  const names: string[] = [];
  let isWhole = true;
  for (const [place, { node }] of nodes.entries()) {
    const name = labelOf(node.metadata?.labels, key);
    let number = name === undefined ? noDomain : numbers.get(name);
    if (number === undefined) {
      number = names.length;
      names.push(name as string);
      numbers.set(name as string, number);
    }
    if (number === noDomain) isWhole = false;
    at[place] = number;
  }
  return { at, numbers, names, isWhole };
}

/** The nodes of a snapshot by their places, with the numbers of their topology domains. They are worked out again when labels change. */
export class NodePlaces {
  readonly #domains = new RecurringValues<KeptDomains>();
  #nodes: readonly NodeInfo[] = [];
  #generations: Float64Array = new Float64Array(0);
  #labelsVersion = -1;
  #domainsVersion = 0;
  #epoch = 0;
  #account: ImageAccount | undefined;
  readonly #imageColumns = new RecurringValues<ScoreColumn>();
  #places: Map<string, number> | undefined;

  get nodes(): readonly NodeInfo[] {
    return this.#nodes;
  }

  /** By place. */
  get generations(): Float64Array {
    return this.#generations;
  }

  /** Another number whenever the places belong to other nodes. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Nodes change in place; a list of other nodes is another list. */
  begin(snapshot: Snapshot): void {
    const { nodes, labelsVersion } = snapshot;
    this.#account = imageAccountOf(snapshot);
    this.#generations = generationsOf(snapshot);
    if (nodes === this.#nodes && labelsVersion === this.#labelsVersion) return;
    if (nodes !== this.#nodes) {
      this.#nodes = nodes;
      this.#epoch += 1;
      this.#places = undefined;
    }
    this.#labelsVersion = labelsVersion;
    this.#domainsVersion += 1;
  }

  /** Which places have which images; undefined where each node is to be asked. For one pod. */
  images(): ImagePlaces | undefined {
    return this.#account && new ImagePlaces(this.#account, this.#nodes, this.#epoch, this.#imageColumns);
  }

  /** The place of the node of this name; undefined where there is none. */
  of(nodeName: string): number | undefined {
    this.#places ??= new Map(this.#nodes.map(({ name }, place) => [name, place]));
    return this.#places.get(nodeName);
  }

  /** Undefined for a key that is not kept: it is asked for rarely. */
  domains(topologyKey: string): Domains | undefined {
    return this.#domains.get(topologyKey, mostKeys, () => new KeptDomains(topologyKey))?.of(this.#domainsVersion, this.#nodes);
  }
}

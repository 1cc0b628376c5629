// Behaviour of preFilterExtendedResources and filterExtendedResources, extendeddynamicresources.go, v1.36.3.
import { randomUUID } from 'node:crypto';
import type { WirePod } from '../../../api/json/types.ts';
import { isDraResource } from '../../../base/names.ts';
import type { ClaimAllocation, ResourceClaim } from '../../devices/device-types.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import type { ResourceClasses } from '../resource-classes.ts';
import { extendedRequests, mostMappings, type RequestMapping } from './extended-requests.ts';

/** The claim that gives the pod its extended resources on some nodes. It is not at the server yet. */
export interface ExtendedClaim {
  readonly claim: ResourceClaim;
  readonly mappings: readonly RequestMapping[];
}

/** The same once the pod has its node. */
export interface ChosenExtendedClaim extends ExtendedClaim {
  readonly allocation: ClaimAllocation;
  /** As the server has it; undefined while it has none. */
  made: ResourceClaim | undefined;
}

/** Says that the scheduler has made the claim for extended resources of its owner. */
const annotation = 'resource.kubernetes.io/extended-resource-claim';
/** No name that a server takes. */
const nameInMemory = '<extended-resources>';

/** The extended resources of a pod, some of which a class of devices stands for. */
export class ExtendedNeeds {
  /** The resources for which a class stands. */
  readonly delegated: readonly string[];
  readonly #pod: WirePod;
  readonly #classes: ReadonlyMap<string, string>;
  /** Those for which none does. */
  readonly #others: readonly string[];
  readonly #uid = randomUUID();
  /** By the resources that are given as devices. */
  readonly #claims = new Map<string, ExtendedClaim>();

  private constructor(pod: WirePod, classes: ReadonlyMap<string, string>, others: readonly string[]) {
    this.delegated = [...classes.keys()];
    this.#pod = pod;
    this.#classes = classes;
    this.#others = others;
  }

  /** Undefined where no class stands for anything that the pod asks for. */
  static of({ pod, requests }: PodInfo, classes: ResourceClasses): ExtendedNeeds | undefined {
    if (requests.scalar.size === 0) return undefined;
    const found = new Map<string, string>();
    const others: string[] = [];
    for (const [name, amount] of requests.scalar) {
      if (amount === 0 || !isDraResource(name)) continue;
      const className = classes.classNameOf(name);
      if (className === undefined) others.push(name);
      else found.set(name, className);
    }
    return found.size === 0 ? undefined : new ExtendedNeeds(pod, found, others);
  }

  /** What is to be claimed on a node that has this for pods; undefined: nothing, it has all. A text says why the pod does not fit. */
  on(allocatable: ReadonlyMap<string, number>): ExtendedClaim | string | undefined {
    const given = this.delegated.filter((name) => (allocatable.get(name) ?? 0) === 0);
    if (this.#others.some((name) => !allocatable.has(name))) return cannotFit;
    if (given.length === 0) return undefined;
    const key = given.join(' ');
    let known = this.#claims.get(key);
    if (known === undefined) {
      known = this.#claimFor(given);
      this.#claims.set(key, known);
    }
    return isWritable(known) ? known : cannotFit;
  }

  #claimFor(names: readonly string[]): ExtendedClaim {
    const classes = new Map(names.map((name) => [name, this.#classes.get(name) as string]));
    const { requests, mappings } = extendedRequests(this.#pod, classes);
    const { name = '', namespace = '', uid = '' } = this.#pod.metadata ?? {};
    const metadata = {
      ...{ name: nameInMemory, namespace, uid: this.#uid, generateName: `${name}-extended-resources-` },
      annotations: { [annotation]: 'true' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
    };
    return { claim: { metadata, spec: { devices: { requests } } }, mappings };
  }
}

/** Why the node of a pod whose claim is left from before is not looked at. */
export const leftFromBefore = 'cannot schedule extended resource claim';
const cannotFit = 'cannot fit resource';

/** Without a request, as where only the pod's overhead asks for it, nobody could say whose the devices are. */
function isWritable({ mappings }: ExtendedClaim): boolean {
  return mappings.length > 0 && mappings.length <= mostMappings;
}

/** The uids of the pods for whose extended resources the claim was made, with their namespace. */
export function extendedOwners({ metadata }: ResourceClaim): readonly string[] {
  if (metadata?.annotations?.[annotation] !== 'true') return [];
  const owners = (metadata.ownerReferences ?? []).filter(({ controller }) => controller === true);
  return owners.map(({ uid, name }) => ownerKey(metadata.namespace, name, uid));
}

/** Under what {@link extendedOwners} names the pod. */
export function extendedOwnerKey({ metadata }: WirePod): string {
  return ownerKey(metadata?.namespace, metadata?.name, metadata?.uid);
}

function ownerKey(namespace = '', name = '', uid = ''): string {
  return `${namespace}/${name}/${uid}`;
}

/** The claim as the server is asked to make it: it chooses the name. */
export function claimToMake({ metadata, spec }: ResourceClaim): ResourceClaim {
  const { name: _name, uid: _uid, ...rest } = metadata ?? {};
  return { apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim', metadata: rest, spec };
}

import type { Json, JsonObject } from '../../wire/types.ts';
import { objectAt, objectsAt } from '../objects/json-fields.ts';

const suffixes: Readonly<Record<string, number>> = {
  n: 1e-9, u: 1e-6, m: 1e-3, '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18,
  Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60,
}; // biome-ignore format: a table

/** The amount of a quantity; 0 for a value that is no quantity. Exact enough to tell amounts apart. */
function amountOf(quantity: Json | undefined): number {
  const match = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([A-Za-z]{0,2})$/.exec(String(quantity ?? ''));
  return match === null ? 0 : Number(match[1]) * (suffixes[match[2] ?? ''] ?? 0);
}

const computeResources = ['cpu', 'memory'];

/** Adds up the positive amounts of cpu and memory in one resource list; returns the names it found. */
function addUp(total: Map<string, number>, list: JsonObject): number {
  let found = 0;
  for (const name of computeResources) {
    const amount = amountOf(list[name]);
    if (amount <= 0) continue;
    total.set(name, (total.get(name) ?? 0) + amount);
    found += 1;
  }
  return found;
}

/** The class the apiserver gives a pod when it is created: from cpu and memory of all its containers, or of the pod itself. */
export function podQOSClass(spec: JsonObject): 'BestEffort' | 'Burstable' | 'Guaranteed' {
  const requests = new Map<string, number>();
  const limits = new Map<string, number>();
  let isGuaranteed = true;
  const holders =
    spec.resources === undefined ? [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')] : [spec];
  for (const holder of holders) {
    const resources = objectAt(holder, 'resources');
    addUp(requests, objectAt(resources, 'requests'));
    if (addUp(limits, objectAt(resources, 'limits')) < computeResources.length) isGuaranteed = false;
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  for (const [name, amount] of requests) if (limits.get(name) !== amount) isGuaranteed = false;
  return isGuaranteed && requests.size === limits.size ? 'Guaranteed' : 'Burstable';
}

import type { AttributeConstraint } from './device-constraints.ts';
import type { PooledDevice } from './pooled-device.ts';
import type { RequestPlan } from './request-plan.ts';
import { type Candidate, mostDevices, type SearchParts, type SearchPlace, type Want } from './search-parts.ts';

/** So many requests are looked at, from the one that stands on: a pod may have any number of them. */
const mostRequests = 64;

/** Of more requests with their alternatives it is not kept what they select. */
const mostPlans = 1024;

/** Devices that are still wanted of a request. */
interface Wanted {
  readonly plan: RequestPlan;
  readonly claim: number;
  readonly count: number;
  readonly candidates: readonly Candidate[];
}

/**
 * Tells a search that has no hope: one that wants more devices than there are left which each by itself could still be taken.
 * Whoever asks finds the same solution, or none as before, since what it leaves out holds no solution, and no error that would end
 * the search. Where it cannot be sure of that, there is hope.
 */
export class SearchOutlook {
  readonly #parts: SearchParts;
  readonly #sizeOf: (plan: RequestPlan) => number;
  readonly #isSelectable: (plan: RequestPlan, device: PooledDevice) => boolean;
  /** For each plan the devices that its selectors select. Undefined before the first question. */
  #selected: ReadonlyMap<RequestPlan, readonly PlacedCandidate[]> | 'unsure' | undefined;

  constructor(
    parts: SearchParts,
    sizeOf: (plan: RequestPlan) => number,
    isSelectable: (plan: RequestPlan, device: PooledDevice) => boolean,
  ) {
    this.#parts = parts;
    this.#sizeOf = sizeOf;
    this.#isSelectable = isSelectable;
  }

  /** `look` is called for each device that is looked at. */
  isThereHope(standing: Want, look: () => void): boolean {
    this.#selected ??= this.#selectAll(look);
    const constraints = this.#parts.claims[standing.claim]?.constraints ?? [];
    if (this.#selected === 'unsure' || !constraints.every(({ isMonotonic }) => isMonotonic)) return true;
    const selected = this.#selected;
    const isOpen = (plan: RequestPlan, claim: number, { pool, device }: Candidate): boolean => {
      look();
      return this.#isOpen(plan, claim, { pool, device });
    };
    const wanted: Wanted[] = [];
    for (const { plan, claim, count, from } of this.#stillWanted(standing)) {
      const open = (selected.get(plan) ?? []).filter((each) => isBehind(each, from) && isOpen(plan, claim, each));
      if (open.length < count || !this.#haveCounters(open, count)) return false;
      wanted.push({ plan, claim, count, candidates: open });
    }
    return this.#isEnoughTogether(wanted);
  }

  /** Undefined for errors, and for requests that may end the search with one. */
  #selectAll(look: () => void): ReadonlyMap<RequestPlan, readonly PlacedCandidate[]> | 'unsure' {
    const selected = new Map<RequestPlan, readonly PlacedCandidate[]>();
    for (const { requests, constraints } of this.#parts.claims) {
      const plans = requests.flat();
      if (selected.size + plans.length > mostPlans) return 'unsure';
      if (constraints.length > 0 && plans.some(({ count }) => count === undefined)) return 'unsure';
      const most = requests.reduce((sum, choices) => sum + Math.max(...choices.map(this.#sizeOf)), 0);
      if (most > mostDevices) return 'unsure';
      for (const plan of plans) {
        const candidates = this.#candidatesOf(plan, look);
        if (candidates === undefined) return 'unsure';
        selected.set(plan, candidates);
      }
    }
    return selected;
  }

  #candidatesOf(plan: RequestPlan, look: () => void): readonly PlacedCandidate[] | undefined {
    const candidates: PlacedCandidate[] = [];
    for (const [poolIndex, pool] of this.#parts.pools.entries()) {
      for (const [deviceIndex, device] of pool.devices.entries()) {
        look();
        try {
          if (this.#isSelectable(plan, device)) candidates.push({ pool, device, poolIndex, deviceIndex });
        } catch {
          return undefined;
        }
      }
    }
    return candidates;
  }

  /** The rest of the request that stands, and all requests after it that have no alternatives and do not ask for all devices. */
  *#stillWanted(standing: Want): Generator<{ plan: RequestPlan; claim: number; count: number; from: SearchPlace }> {
    const none = { pool: 0, device: 0 };
    let seen = 0;
    for (let claim = standing.claim; claim < this.#parts.claims.length; claim++) {
      const { requests = [], constraints = [] } = this.#parts.claims[claim] ?? {};
      if (claim > standing.claim && !constraints.every(({ isMonotonic }) => isMonotonic)) continue;
      for (let request = claim === standing.claim ? standing.request : 0; request < requests.length; request++) {
        if (++seen > mostRequests) return;
        const stands = claim === standing.claim && request === standing.request;
        const choices = requests[request] ?? [];
        const plan = choices[stands ? (standing.choice ?? 0) : 0];
        if (plan === undefined || plan.count === undefined || (!stands && choices.length > 1)) continue;
        const count = this.#sizeOf(plan) - (stands ? standing.index : 0);
        yield { plan, claim, count, from: stands ? standing.place : none };
      }
    }
  }

  /** True where the device could be taken now, if it were the only one that is still wanted. */
  #isOpen(plan: RequestPlan, claim: number, { pool, device }: Candidate): boolean {
    const { ledger, claims } = this.#parts;
    if (plan.hasAdminAccess ? ledger.isInUseBy(device, claim) : ledger.isInUse(device)) return false;
    const use = plan.useOf(device);
    if (use === undefined || !ledger.hasRoom(device, use) || plan.isKeptOff(device)) return false;
    // another request may have counted a shared device by then
    if (!device.isShared && !ledger.hasCounters(pool, device)) return false;
    const constraints = claims[claim]?.constraints ?? [];
    return constraints.every(
      (each: AttributeConstraint) => !each.appliesTo(plan.request, plan.subRequest) || each.allows(device),
    );
  }

  /** One device cannot be taken for two requests, unless it is shared or asked for with admin access. */
  #isEnoughTogether(wanted: readonly Wanted[]): boolean {
    const exclusive = wanted.filter(({ plan }) => !plan.hasAdminAccess);
    const union = new Map<PooledDevice, Candidate>();
    for (const candidate of exclusive.flatMap(({ candidates }) => candidates)) union.set(candidate.device, candidate);
    const candidates = [...union.values()];
    if (candidates.some(({ device }) => device.isShared)) return true;
    const count = exclusive.reduce((sum, each) => sum + each.count, 0);
    return candidates.length >= count && this.#haveCounters(candidates, count);
  }

  /** False where even those that use up least of some counter use up more than it has. */
  #haveCounters(candidates: readonly Candidate[], count: number): boolean {
    const uses = new Map<string, { candidate: Candidate; counter: string; amounts: bigint[] }>();
    for (const candidate of candidates) {
      if (candidate.device.isShared) continue;
      for (const [counter, nano] of candidate.device.counters) {
        const { driver, name } = candidate.pool.source;
        const key = `${driver}/${name}/${counter}`;
        const known = uses.get(key) ?? { candidate, counter, amounts: [] };
        known.amounts.push(nano);
        uses.set(key, known);
      }
    }
    return [...uses.values()].every(({ candidate: { pool }, counter, amounts }) => {
      const needed = count - (candidates.length - amounts.length);
      if (needed <= 0) return true;
      const least = amounts.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)).slice(0, needed);
      return least.reduce((sum, nano) => sum + nano, 0n) <= this.#parts.ledger.counterLeft(pool, counter);
    });
  }
}

interface PlacedCandidate extends Candidate {
  readonly poolIndex: number;
  readonly deviceIndex: number;
}

function isBehind({ poolIndex, deviceIndex }: PlacedCandidate, { pool, device }: SearchPlace): boolean {
  return poolIndex > pool || (poolIndex === pool && deviceIndex >= device);
}

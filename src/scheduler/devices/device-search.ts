// Behaviour of allocateOne in k8s.io/dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go, v0.36.3.
import { errorText } from '../../base/errors.ts';
import { DeviceAllocationError, requireTime } from './device-allocation-error.ts';
import type { PooledDevice } from './pooled-device.ts';
import type { RequestChoices, RequestPlan } from './request-plan.ts';
import { SearchOutlook } from './search-outlook.ts';
import {
  type Candidate,
  type FoundClaim,
  type FoundDevice,
  mostDevices,
  type SearchedClaim,
  type SearchParts,
  type SearchPlace,
  type Want,
  type WantedClaim,
} from './search-parts.ts';

/** After so many looks at devices a search asks, before it goes on, whether that can lead to anything. */
const looksWithoutOutlook = 2000;

/** The time is asked for after so many looks at devices. */
const looksBetweenTimes = 128;

const start: SearchPlace = { pool: 0, device: 0 };

/** A decision of the search that can be taken back. */
type Step =
  | { readonly kind: 'claim' }
  | { readonly kind: 'choice'; readonly want: Want; choice: number; areAllTooMany: boolean }
  | { readonly kind: 'all'; readonly want: Want; found: FoundDevice | undefined }
  | { readonly kind: 'one'; readonly want: Want; place: SearchPlace; found: FoundDevice | undefined };

/** `tooMany`: a claim would be given more devices than it may. */
type Outcome = 'found' | 'none' | 'tooMany';

/**
 * Looks for devices for all claims on one node: one device after the other, in the order of the pools, and back where it cannot go
 * on. The first solution counts. Its steps are kept in a list, since a claim could make a recursion as deep as it likes.
 */
export class DeviceSearch {
  readonly #parts: SearchParts;
  readonly #steps: Step[] = [];
  readonly #found: FoundDevice[][];
  readonly #chosen: RequestPlan[][];
  readonly #allOf = new Map<RequestPlan, readonly Candidate[]>();
  readonly #outlook: SearchOutlook;
  #looks = 0;
  #hasGoneBack = false;

  /**
   * Throws DeviceAllocationError for a claim that cannot be read, for a request of all devices where a pool is not whole, and for too large a
   * claim.
   */
  constructor(parts: Omit<SearchParts, 'claims'>, wanted: readonly WantedClaim[]) {
    const claims: SearchedClaim[] = [];
    this.#parts = { ...parts, claims };
    this.#found = wanted.map(() => []);
    this.#chosen = wanted.map(() => []);
    for (const { name, requests, constraints } of wanted) {
      const plans = requests();
      this.#prepare(plans, name);
      claims.push({ requests: plans, constraints: constraints() });
    }
    this.#outlook = new SearchOutlook(
      this.#parts,
      (plan) => this.#sizeOf(plan),
      (plan, device) => this.#isSelectable(plan, device),
    );
  }

  /** Undefined where there is no solution. Throws DeviceAllocationError. */
  run(): readonly FoundClaim[] | undefined {
    let outcome = this.#enter({ claim: 0, request: 0, choice: undefined, index: 0, place: start });
    for (let step = this.#steps.at(-1); outcome !== 'found' && step !== undefined; step = this.#steps.at(-1)) {
      outcome = outcome === 'entered' ? this.#goOn(step) : this.#goBack(step, outcome);
    }
    if (outcome === 'tooMany') throw new DeviceAllocationError('claims', 'allocation max size exceeded');
    if (outcome !== 'found') return undefined;
    return this.#found.map((devices, claim) => ({ devices, plans: this.#chosen[claim] ?? [] }));
  }

  #prepare(requests: readonly RequestChoices[], name: string): void {
    let least = 0;
    for (const choices of requests) {
      for (const plan of choices) {
        if (plan.count === undefined) this.#allOf.set(plan, this.#all(plan));
      }
      least += Math.min(...choices.map((plan) => this.#sizeOf(plan)));
    }
    if (least <= mostDevices) return;
    const message = `claim ${name}: number of requested devices ${least} exceeds the claim limit of ${mostDevices}`;
    throw new DeviceAllocationError('claims', message);
  }

  #all(plan: RequestPlan): readonly Candidate[] {
    const found: Candidate[] = [];
    for (const pool of this.#parts.pools) {
      if (pool.state !== 'whole') {
        const how = pool.state === 'incomplete' ? 'being updated' : 'invalid';
        const id = `${pool.source.driver}/${pool.source.name}`;
        throw new DeviceAllocationError(
          'claims',
          `${plan.what}: asks for all devices, but resource pool ${id} is currently ${how}`,
        );
      }
      for (const device of pool.devices) {
        this.#look();
        if (this.#isSelectable(plan, device) && this.#hasRoom(plan, device)) found.push({ pool, device });
      }
    }
    return found;
  }

  #sizeOf(plan: RequestPlan): number {
    return plan.count ?? this.#allOf.get(plan)?.length ?? 0;
  }

  /** What is to be done for a device that is wanted: `entered` where there is a new step. */
  #enter(wanted: Want): Outcome | 'entered' {
    let want = wanted;
    for (;;) {
      this.#look();
      const claim = this.#parts.claims[want.claim];
      if (claim === undefined) return 'found';
      const choices = claim.requests[want.request];
      if (choices === undefined) {
        this.#steps.push({ kind: 'claim' });
        want = { claim: want.claim + 1, request: 0, choice: undefined, index: 0, place: start };
        continue;
      }
      if (want.choice === undefined && choices[0]?.subRequest !== undefined) {
        this.#steps.push({ kind: 'choice', want, choice: -1, areAllTooMany: true });
        return 'entered';
      }
      const plan = choices[want.choice ?? 0];
      if (plan === undefined) return 'none';
      this.#chosenOf(want.claim)[want.request] = plan;
      const size = this.#sizeOf(plan);
      if (plan.count === undefined && size === 0) return 'none';
      if (want.index >= size) {
        want = { claim: want.claim, request: want.request + 1, choice: undefined, index: 0, place: start };
        continue;
      }
      if (this.#foundOf(want.claim).length + size - want.index > mostDevices) return 'tooMany';
      return this.#enterDevice(want, plan);
    }
  }

  #enterDevice(want: Want, plan: RequestPlan): Outcome | 'entered' {
    if (plan.count === undefined) {
      this.#steps.push({ kind: 'all', want, found: undefined });
      return 'entered';
    }
    if (!this.#isThereHope(want)) return 'none';
    this.#steps.push({ kind: 'one', want, place: want.place, found: undefined });
    return 'entered';
  }

  /** The next thing that a step can try. */
  #goOn(step: Step): Outcome | 'entered' {
    if (step.kind === 'claim') return 'none';
    if (step.kind === 'choice') return this.#nextChoice(step);
    if (step.kind === 'all') return this.#takeAll(step);
    return this.#takeNext(step);
  }

  /** What follows for a step when what came after it has led to nothing. */
  #goBack(step: Step, outcome: 'none' | 'tooMany'): Outcome | 'entered' {
    if (step.kind === 'choice') {
      if (outcome === 'none') step.areAllTooMany = false;
      return this.#nextChoice(step);
    }
    if (step.kind === 'claim') {
      this.#steps.pop();
      return 'none'; // another solution for the claims before may leave this one a smaller alternative
    }
    this.#hasGoneBack = true;
    if (step.found !== undefined) this.#giveBack(step.found);
    step.found = undefined;
    if (step.kind === 'one' && outcome === 'none' && this.#isThereHope({ ...step.want, place: step.place }))
      return this.#takeNext(step);
    this.#steps.pop();
    return outcome;
  }

  /** Only a search that is long and has gone back before asks: most find a solution at once. */
  #isThereHope(want: Want): boolean {
    if (!this.#hasGoneBack || this.#looks < looksWithoutOutlook) return true;
    return this.#outlook.isThereHope(want, () => this.#look());
  }

  #nextChoice(step: Step & { kind: 'choice' }): Outcome | 'entered' {
    step.choice++;
    const choices = this.#parts.claims[step.want.claim]?.requests[step.want.request] ?? [];
    if (step.choice < choices.length) return this.#enter({ ...step.want, choice: step.choice });
    this.#steps.pop();
    return step.areAllTooMany ? 'tooMany' : 'none';
  }

  #takeAll(step: Step & { kind: 'all' }): Outcome | 'entered' {
    const { want } = step;
    const plan = this.#planOf(want);
    const candidate = this.#allOf.get(plan)?.[want.index];
    step.found = candidate && this.#take(want, plan, candidate, true);
    if (step.found !== undefined) return this.#enter({ ...want, index: want.index + 1 });
    this.#steps.pop();
    return 'none';
  }

  #takeNext(step: Step & { kind: 'one' }): Outcome | 'entered' {
    const { want } = step;
    const plan = this.#planOf(want);
    let { pool: poolIndex, device: deviceIndex } = step.place;
    for (; poolIndex < this.#parts.pools.length; poolIndex++, deviceIndex = 0) {
      const pool = this.#parts.pools[poolIndex];
      if (pool === undefined || pool.state !== 'whole') continue;
      for (; deviceIndex < pool.devices.length; deviceIndex++) {
        const device = pool.devices[deviceIndex];
        this.#look();
        if (device === undefined || !this.#isFree(plan, want.claim, device) || !this.#isSelectable(plan, device)) continue;
        if (!this.#hasRoom(plan, device)) continue;
        step.found = this.#take(want, plan, { pool, device }, false);
        if (step.found === undefined) continue;
        step.place = { pool: poolIndex, device: deviceIndex + 1 };
        return this.#enter({ ...want, index: want.index + 1, place: step.place });
      }
    }
    this.#steps.pop();
    return 'none';
  }

  /** Undefined where the device is not free, or a taint, a counter or a constraint is against it. */
  #take(want: Want, plan: RequestPlan, { pool, device }: Candidate, isMust: boolean): FoundDevice | undefined {
    const { ledger, claims } = this.#parts;
    if (!this.#isFree(plan, want.claim, device)) return undefined;
    if (!ledger.isCounted(device) && !ledger.hasCounters(pool, device)) return undefined;
    if (plan.isKeptOff(device)) return undefined;
    const constraints = claims[want.claim]?.constraints ?? [];
    const failed = constraints.findIndex((constraint) => !constraint.add(plan.request, plan.subRequest, device));
    const use = plan.useOf(device);
    if (failed >= 0 || use === undefined || !ledger.hasRoom(device, use)) {
      for (const constraint of failed < 0 ? constraints : constraints.slice(0, failed))
        constraint.remove(plan.request, plan.subRequest);
      if (failed < 0 || !isMust) return undefined;
      const message = `${plan.what}: cannot add device ${device.key} because a claim constraint would not be satisfied`;
      throw new DeviceAllocationError('claims', message);
    }
    const found = { ...ledger.take(want.claim, pool, device, use), plan };
    this.#foundOf(want.claim).push(found);
    return found;
  }

  #giveBack(found: FoundDevice): void {
    const { plan, claim } = found;
    this.#foundOf(claim).pop();
    this.#parts.ledger.giveBack(found);
    for (const constraint of this.#parts.claims[claim]?.constraints ?? []) constraint.remove(plan.request, plan.subRequest);
  }

  #isFree(plan: RequestPlan, claim: number, device: PooledDevice): boolean {
    const { ledger } = this.#parts;
    if (plan.hasAdminAccess) return !ledger.isInUseBy(device, claim);
    return !ledger.isInUse(device);
  }

  #hasRoom(plan: RequestPlan, device: PooledDevice): boolean {
    const use = plan.useOf(device);
    return use !== undefined && this.#parts.ledger.hasRoom(device, use);
  }

  #isSelectable(plan: RequestPlan, device: PooledDevice): boolean {
    if (!plan.selects(device)) return false;
    try {
      return device.nodeTest === undefined || device.nodeTest(this.#parts.node);
    } catch (error) {
      throw new DeviceAllocationError('claims', `node selector of device ${device.key}: ${errorText(error)}`, { cause: error });
    }
  }

  #planOf({ claim, request, choice }: Want): RequestPlan {
    const plan = this.#parts.claims[claim]?.requests[request]?.[choice ?? 0];
    if (plan === undefined) throw new RangeError('a request that is not there');
    return plan;
  }

  #foundOf(claim: number): FoundDevice[] {
    return this.#found[claim] ?? [];
  }

  #chosenOf(claim: number): RequestPlan[] {
    return this.#chosen[claim] ?? [];
  }

  #look(): void {
    this.#looks++;
    if (this.#looks % looksBetweenTimes === 0) requireTime(this.#parts.isOverdue);
  }
}

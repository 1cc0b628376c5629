// Behaviour of pkg/kubelet/cm/dra/manager.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { type SteadyClock, sleep } from '../../base/clock.ts';
import { callWithin, settledAtOnce, untilAborted } from '../../base/concurrency/aborts.ts';
import { errorText, throwAll } from '../../base/errors.ts';
import { type Failing, FailureRun } from '../../base/failure-run.ts';
import { ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { problemFields } from '../../base/problem.ts';
import { textBeginning } from '../../base/text-beginning.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';
import { helped } from '../../node/problem-help.ts';
import type { DraClaim, DraDriver } from './dra-driver.ts';
import type { DraDrivers } from './dra-drivers.ts';
import { type CheckedAnswer, checkedPreparation, checkedUndoing } from './driver-answers.ts';
import type { HeldClaim, KeptClaims } from './kept-claims.ts';
import {
  asksForClaims,
  claimsOfPod,
  driversOf,
  mostPodClaims,
  requestsOfContainer,
  requireUsable,
  type WireResourceClaim,
} from './pod-claims.ts';

export interface ResourceClaimsOptions {
  readonly kept: KeptClaims;
  readonly drivers: Pick<DraDrivers, 'driver'>;
  readonly transport: ResourceTransport;
  /** False while nobody knows all pods of the node. */
  readonly arePodsKnown: () => boolean;
  /** Whether the pod may still use its claims: it is not over, or something of it runs. */
  readonly mayUse: (podUID: string, signal: AbortSignal) => Promise<boolean>;
  readonly metrics: Metrics;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** A driver has so long to answer. */
const callTimeoutMs = 45_000;
/** An injected driver that heeds no limit is given up a little later. */
const latestCallMs = 50_000;
const readTimeoutMs = 30_000;
const readsAtOnce = 8;
const lookPeriodMs = 60_000;
const looksAtOnce = 8;
const longestError = 2000;

/** One call of a driver for several claims. */
type DriverCall<T> = (driver: DraDriver, claims: readonly DraClaim[], signal: AbortSignal) => Promise<CheckedAnswer<T>>;

/**
 * Has drivers make claims ready before the first pod of this node that uses them starts, and undo that once the last one has ended. Which claims
 * a driver may have is on the disk before the driver is asked, and until it has undone them.
 */
export class ResourceClaims {
  readonly #options: ResourceClaimsOptions;
  readonly #claims: ResourceClient<WireResourceClaim>;
  readonly #stopping = new AbortController();
  readonly #looks: FailureRun;
  /** The pods whose claims are being taken back by a look. */
  readonly #takingBack = new Set<string>();
  #run: Promise<void> = Promise.resolve();

  constructor(options: ResourceClaimsOptions) {
    this.#options = options;
    this.#claims = new ResourceClient<WireResourceClaim>(options.transport, resources.resourceClaims);
    const { clock, logger } = options;
    this.#looks = new FailureRun(clock, (ended) => logger.info(ended, 'claims of pods that are gone can be taken back again'));
  }

  /** Why claims of pods that are gone are still there; undefined while all is well. */
  get failing(): Failing | undefined {
    return this.#looks.failing;
  }

  /** Looks for claims of pods that are gone, each minute. */
  start(): void {
    this.#run = this.#lookOnAndOn();
  }

  /** Calls of drivers that are under way reject as uncertain. What drivers have made ready stays. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#run;
  }

  /** Resolves once all claims of the pod are ready. Rejects with the signal's reason as soon as it aborts; what a driver was asked for is still waited for by whoever comes next. */
  async prepare(pod: Pod, signal: AbortSignal): Promise<void> {
    if (!asksForClaims(pod)) return;
    const work = this.#measured('PrepareResources', () => this.#prepare(pod, signal));
    await this.#inWords('prepare dynamic resources', () => untilAborted(work, signal), signal);
  }

  /** Resolves once nothing of the pod is held by drivers for it alone. The pod's containers must have ended. */
  async unprepare(pod: Pod, signal: AbortSignal): Promise<void> {
    const { kept } = this.#options;
    if (!asksForClaims(pod) && kept.of(podUIDOf(pod)).length === 0) return;
    const work = this.#measured('UnprepareResources', async () => {
      await kept.open();
      await this.#unprepare(podUIDOf(pod));
    });
    await this.#inWords('unprepare dynamic resources', () => untilAborted(work, signal), signal);
  }

  /** True while drivers may hold something for the pod. */
  mayHold(pod: Pod): boolean {
    const { kept } = this.#options;
    return kept.of(podUIDOf(pod)).length > 0 || (!kept.isOpen && asksForClaims(pod));
  }

  /** The names of the devices that the container is to have, each once. Rejects where a claim was not made ready for the pod. */
  async cdiDevicesOf(pod: Pod, container: Container): Promise<readonly string[]> {
    const requested = requestsOfContainer(pod, container);
    if (requested.size === 0) return [];
    await this.#options.kept.open();
    const namespace = pod.metadata?.namespace ?? '';
    const found = new Set<string>();
    for (const [name, requests] of requested) {
      const claim = this.#options.kept.get(namespace, name);
      if (claim?.podUIDs.has(podUIDOf(pod)) !== true) {
        throw new Error(`unable to get claim info for ResourceClaim ${name} in namespace ${namespace}`);
      }
      const isAsked = (names: readonly string[]): boolean =>
        names.length === 0 || requests.some((request) => request === '' || names.includes(request));
      for (const { requestNames, cdiDeviceIDs } of [...claim.drivers.values()].flat()) {
        if (isAsked(requestNames)) for (const id of cdiDeviceIDs) found.add(id);
      }
    }
    return [...found];
  }

  async #prepare(pod: Pod, signal: AbortSignal): Promise<void> {
    const { kept, drivers } = this.#options;
    const namespace = pod.metadata?.namespace ?? '';
    const used = claimsOfPod(pod);
    if (used.length > mostPodClaims)
      throw new Error(`the pod has ${used.length} claims, and this node gives a pod at most ${mostPodClaims}`);
    await kept.open();
    const read = await settledAtOnce(used, readsAtOnce, async (claim) => {
      const object = await this.#read(namespace, claim.name, signal);
      requireUsable(pod, claim, object);
      return object;
    });
    signal.throwIfAborted();
    const objects = read.map((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
    // also for a claim that is ready: without its driver something is wrong with the node
    for (const name of new Set(objects.flatMap((object) => [...driversOf(object)]))) drivers.driver(name);
    const named = used.map(({ name }) => ({ namespace, name }));
    await kept.inTurn(named, async () => {
      signal.throwIfAborted();
      await this.#prepareInTurn(pod, objects);
    });
  }

  async #read(namespace: string, name: string, signal: AbortSignal): Promise<WireResourceClaim> {
    try {
      return await this.#claims.get({ namespace, name }, { signal, timeoutMs: readTimeoutMs });
    } catch (cause) {
      signal.throwIfAborted();
      throw new Error(`fetch ResourceClaim ${name}: ${errorText(cause)}`, { cause });
    }
  }

  async #prepareInTurn(pod: Pod, objects: readonly WireResourceClaim[]): Promise<void> {
    const wanted = new Map(objects.map((object) => [this.#heldFor(object), driversOf(object)]));
    await this.#refer(podUIDOf(pod), [...wanted.keys()]);
    const unready = [...wanted].filter(([{ isPrepared }]) => !isPrepared);
    if (unready.length === 0) return;
    const failures = await this.#callDrivers(unready, 'NodePrepareResources', {
      call: async (driver, claims, signal) =>
        checkedPreparation(claims, await driver.prepare(claims, { signal, timeoutMs: callTimeoutMs })),
      done: (claim, driver, devices) => void claim.drivers.set(driver, devices),
      allDone: (claim) => {
        claim.isPrepared = true;
      },
    });
    await this.#options.kept.save().catch((cause: unknown) => {
      // what cannot be kept keeps nothing else from the disk
      for (const [{ drivers }] of unready) for (const driver of drivers.keys()) drivers.set(driver, []);
      for (const [claim] of unready) claim.isPrepared = false;
      throw new Error(`checkpoint ResourceClaim state: ${errorText(cause)}`, { cause });
    });
    throwAll(failures, told);
  }

  /** What is known of the claim, or is to be known. */
  #heldFor(object: WireResourceClaim): HeldClaim {
    const { namespace = '', name = '', uid = '' } = object.metadata ?? {};
    const held = this.#options.kept.get(namespace, name);
    const names = driversOf(object);
    if (held === undefined) {
      return {
        namespace,
        name,
        uid,
        podUIDs: new Set(),
        drivers: new Map(Array.from(names, (each) => [each, []])),
        isPrepared: false,
      };
    }
    if (held.uid !== uid) {
      throw new Error(
        `old ResourceClaim with same name ${name} and different UID ${held.uid} still exists (previous pod force-deleted?!)`,
      );
    }
    const more = [...names].filter((each) => !held.drivers.has(each));
    if (more.length > 0 && held.isPrepared) {
      throw new Error(`ResourceClaim ${name} has devices of other drivers than those that made it ready: ${more.join(', ')}`);
    }
    for (const each of more) held.drivers.set(each, []);
    return held;
  }

  /** The pod uses the claims from now on. No driver was asked where that is not on the disk. */
  async #refer(podUID: string, claims: readonly HeldClaim[]): Promise<void> {
    const { kept } = this.#options;
    const added = claims.filter(({ podUIDs }) => !podUIDs.has(podUID));
    if (added.length === 0 && kept.isSaved) return;
    for (const claim of added) {
      claim.podUIDs.add(podUID);
      kept.add(claim);
    }
    try {
      await kept.save();
    } catch (cause) {
      for (const claim of added) {
        claim.podUIDs.delete(podUID);
        if (claim.podUIDs.size === 0) kept.delete(claim);
      }
      throw new Error(`checkpoint ResourceClaim cache: ${errorText(cause)}`, { cause });
    }
  }

  async #unprepare(podUID: string, isWanted: () => Promise<boolean> = async () => true): Promise<void> {
    const { kept } = this.#options;
    const named = kept.of(podUID);
    if (named.length === 0 && !kept.isSaved) await this.#saveState();
    if (named.length === 0) return;
    await kept.inTurn(named, async () => {
      if (await isWanted()) await this.#unprepareInTurn(podUID, named);
    });
  }

  async #unprepareInTurn(podUID: string, named: readonly HeldClaim[]): Promise<void> {
    const { kept } = this.#options;
    // while it waited for its turn, another one may have given them back, and another pod may have got them since
    const held = named.filter((claim) => kept.get(claim.namespace, claim.name) === claim && claim.podUIDs.has(podUID));
    const last = held.filter(({ podUIDs }) => podUIDs.size === 1);
    for (const claim of held) if (claim.podUIDs.size > 1) claim.podUIDs.delete(podUID);
    // who comes after a failure has them made ready anew
    for (const claim of last) claim.isPrepared = false;
    const wanted = last.map((claim) => [claim, new Set(claim.drivers.keys())] as const);
    const failures = await this.#callDrivers(wanted, 'NodeUnprepareResources', {
      call: async (driver, claims, signal) =>
        checkedUndoing(claims, await driver.unprepare(claims, { signal, timeoutMs: callTimeoutMs })),
      done: () => {},
      allDone: (claim) => kept.delete(claim),
    });
    await this.#saveState();
    throwAll(failures, told);
  }

  async #saveState(): Promise<void> {
    await this.#options.kept.save().catch((cause: unknown) => {
      throw new Error(`checkpoint ResourceClaim state: ${errorText(cause)}`, { cause });
    });
  }

  /** One call for each driver with all its claims; drivers side by side. `allDone`: every driver of the claim is done with it. */
  async #callDrivers<T>(
    wanted: readonly (readonly [HeldClaim, ReadonlySet<string>])[],
    name: string,
    work: {
      readonly call: DriverCall<T>;
      readonly done: (claim: HeldClaim, driver: string, value: T) => void;
      readonly allDone: (claim: HeldClaim) => void;
    },
  ): Promise<readonly unknown[]> {
    const left = new Map(wanted.map(([claim, names]) => [claim, new Set(names)]));
    const failures: unknown[] = [];
    const ask = async (driver: string): Promise<void> => {
      const claims = wanted.filter(([, names]) => names.has(driver)).map(([claim]) => claim);
      const answer = await this.#call(driver, name, claims, work.call);
      failures.push(...answer.failures);
      for (const claim of claims) {
        const value = answer.done.get(claim.uid);
        if (value === undefined) continue;
        work.done(claim, driver, value);
        left.get(claim)?.delete(driver);
      }
    };
    const names = new Set(wanted.flatMap(([, each]) => [...each]));
    await Promise.all(Array.from(names, (driver) => ask(driver).catch((error: unknown) => failures.push(error))));
    for (const [claim, missing] of left) if (missing.size === 0) work.allDone(claim);
    return failures;
  }

  async #call<T>(name: string, what: string, claims: readonly HeldClaim[], call: DriverCall<T>): Promise<CheckedAnswer<T>> {
    const { drivers, clock } = this.#options;
    const driver = drivers.driver(name);
    const asked = claims.map(({ namespace, name: claimName, uid }) => ({ namespace, uid, name: claimName }));
    const late = () => new Error(`no answer within ${latestCallMs / 1000} s`);
    const limits = { clock, timeoutMs: latestCallMs, signal: this.#stopping.signal, late };
    try {
      return await callWithin((signal) => call(driver, asked, signal), limits);
    } catch (cause) {
      const text = textBeginning(errorText(cause), longestError);
      // what it has answered for another claim says the call's name itself
      throw new Error(text.startsWith(what) ? text : `${what}: ${text}`, { cause });
    }
  }

  async #lookOnAndOn(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await sleep(clock, lookPeriodMs, signal);
      // a driver that hangs holds up the claims of no other pod
      if (!signal.aborted && this.#options.arePodsKnown()) void this.#look();
    }
  }

  /** Takes back what pods have left that are gone. */
  async #look(): Promise<void> {
    const { kept, clock, logger, mayUse } = this.#options;
    const { signal } = this.#stopping;
    await kept.open().catch(ignoreFailure);
    if (!kept.isOpen) return;
    const uids = new Set(kept.all().flatMap(({ podUIDs }) => [...podUIDs]));
    const left = [...uids].filter((podUID) => !this.#takingBack.has(podUID));
    let hasFailed = false;
    const isGone = async (podUID: string): Promise<boolean> => !(await mayUse(podUID, signal));
    for (const podUID of left) this.#takingBack.add(podUID);
    await settledAtOnce(left, looksAtOnce, async (podUID) => {
      try {
        if (await isGone(podUID)) await this.#unprepare(podUID, () => isGone(podUID));
      } catch (err) {
        if (signal.aborted) return;
        // one look counts as one try, however much of it fails
        const failing = (hasFailed ? this.#looks.failing : undefined) ?? this.#looks.failed(err);
        hasFailed = true;
        const problem = problemFields({ ...failing, ...helped('claims-left') }, clock.now());
        logger.warn(
          { err, ...podFields({ uid: podUID }), ...problem },
          'the claims of a pod that is gone could not be taken back; it is tried again',
        );
      } finally {
        this.#takingBack.delete(podUID);
      }
    });
    if (!hasFailed && this.#takingBack.size === 0) this.#looks.succeeded();
  }

  async #measured(operation: 'PrepareResources' | 'UnprepareResources', work: () => Promise<void>): Promise<void> {
    const { metrics, clock } = this.#options;
    const begunMs = clock.elapsed();
    const told = (isError: boolean): void =>
      metrics.observe('dra_operations_duration_seconds', (clock.elapsed() - begunMs) / 1000, {
        operation_name: operation,
        is_error: `${isError}`,
      });
    try {
      await work();
      told(false);
    } catch (error) {
      told(true);
      throw error;
    }
  }

  async #inWords(what: string, work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    try {
      await work();
    } catch (cause) {
      signal.throwIfAborted();
      throw new Error(`${what}: ${errorText(cause)}`, { cause });
    }
  }
}

function told(texts: readonly string[]): string {
  return textBeginning(texts.join('; '), longestError);
}

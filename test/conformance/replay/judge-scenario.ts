import { isDeepStrictEqual } from 'node:util';
import type { WirePodStatus } from '../../../src/index.ts';
import { comparable } from './canonical.ts';
import { disruptionTimes } from './disruption-times.ts';
import { serverUIDs } from './entries.ts';
import { Differences } from './excuses.ts';
import { excuseWhatRulesExplain } from './exemptions.ts';
import { areOutOfOrder, type OutOfOrder, outOfOrder } from './init-order.ts';
import { whyOursIsLate, whyTheirsIsLate } from './lateness.ts';
import { Memory } from './memory.ts';
import { OurRequests } from './our-requests.ts';
import { OwnWrites, type OwnWritesContext } from './own-writes.ts';
import type { Due, Pair, View } from './pair.ts';
import type { Outcome, Variant } from './play-scenario.ts';
import { type Expected, Recording } from './recording.ts';
import type { Rule } from './replay-rules.ts';
import type { Scenario, Step, Write } from './replay-scenario.ts';
import { World } from './replay-world.ts';
import { batches, utcSecond } from './seconds.ts';
import { Side } from './side.ts';
import { TheirRequests } from './their-requests.ts';

export interface Difference {
  readonly scenario: string;
  readonly step: number;
  readonly op: string;
  readonly pod: string;
  readonly aspects: readonly { readonly aspect: string; readonly expected: unknown; readonly got: unknown }[];
}

export interface ExemptPair {
  readonly step: number;
  readonly pod: string;
  readonly rules: readonly Rule[];
}

export interface Judgement {
  readonly steps: number;
  /** (step, pod) pairs looked at. */
  readonly pairs: number;
  /** The pairs of which rules have excused something. */
  readonly exempt: readonly ExemptPair[];
  readonly differences: readonly Difference[];
}

/** Compares every pod after every step: what our manager did with what upstream did, and each write with what it must do. */
export function judge(scenario: Scenario, variant: Variant, outcomes: readonly Outcome[]): Judgement {
  const judge = new ScenarioJudge(scenario, variant);
  scenario.steps.forEach((step, index) => {
    const outcome = outcomes[index];
    if (outcome === undefined) throw new Error(`step ${index} of ${scenario.name} was not played`);
    judge.compare(index, step, outcome);
  });
  return judge.judgement();
}

/** One step as both sides have it. */
interface PlayedStep {
  readonly index: number;
  readonly step: Step;
  readonly began: number;
  readonly hasBatch: boolean;
  readonly expected: Expected;
  readonly outcome: Outcome;
  readonly ourWrites: readonly Write[];
}

class ScenarioJudge {
  readonly #scenario: Scenario;
  readonly #variant: Variant;
  readonly #conditionOrder: boolean;
  readonly #world: World;
  readonly #recording: Recording;
  readonly #theirRequests: TheirRequests;
  readonly #ourRequests: OurRequests;
  readonly #theirs: Side;
  readonly #ours: Side;
  readonly #memories = new Map<string, Memory>();
  readonly #exempt: ExemptPair[] = [];
  readonly #found: Difference[] = [];
  readonly #start: number;
  readonly #disruptionTimes: ReturnType<typeof disruptionTimes>;
  #now: number;
  #pairs = 0;

  constructor(scenario: Scenario, variant: Variant) {
    this.#scenario = scenario;
    this.#variant = variant;
    this.#conditionOrder = variant.patchFormat !== 'json';
    this.#world = new World(this.#conditionOrder);
    this.#recording = new Recording(this.#world, this.#conditionOrder);
    this.#theirRequests = new TheirRequests(this.#world);
    this.#ourRequests = new OurRequests(this.#world);
    this.#theirs = new Side(this.#world);
    this.#ours = new Side(this.#world);
    this.#start = Date.parse(scenario.start);
    this.#disruptionTimes = disruptionTimes(scenario);
    this.#now = this.#start;
  }

  compare(index: number, step: Step, outcome: Outcome): void {
    const began = this.#now;
    this.#now += (step.seconds ?? 0) * 1000;
    const seconds = batches(this.#start, began, this.#now).map(utcSecond);
    const hasBatch = seconds.length > 0;
    this.#world.note(step, hasBatch);
    const context = { seconds: step.op === 'advance' ? seconds : [utcSecond(began)], written: this.#written(step, outcome) };
    const expected = this.#recording.next(step, context);
    this.#theirs.noteFinished(expected.notifications);
    this.#ours.noteFinished(outcome.notifications);
    this.#theirRequests.note(step, expected, outcome.shown, seconds.length);
    this.#ourRequests.note(step, outcome, hasBatch);
    const own = new OwnWrites(this.#ownWritesContext(), outcome.arrived, this.#ours.finished);
    for (const { pod, expected: wanted, got } of expected.contradictions)
      this.#report(index, step, pod, 'recording', wanted, got);
    for (const { pod, expected: wanted, got } of own.wrong) this.#report(index, step, pod, 'our write', wanted, got);
    this.#checkRules(index, step, expected, outcome);
    const played = { index, step, began, hasBatch, expected, outcome, ourWrites: own.writes };
    for (const [pod, podUIDs] of this.#world.pods) this.#comparePair(played, pod, podUIDs);
    this.#theirs.end(step, expected, expected.recorded);
    this.#ours.end(step, outcome, outcome.server);
  }

  judgement(): Judgement {
    return {
      steps: this.#scenario.steps.length,
      pairs: this.#pairs,
      exempt: this.#exempt,
      differences: this.#found,
    };
  }

  #ownWritesContext(): OwnWritesContext {
    const readsFirst = this.#variant.fetchBeforePatch === 'always';
    const hasUnseenWrite = (pod: string): boolean => !readsFirst && this.#ourRequests.hasNotDealtWithForeignWrite(pod);
    return { world: this.#world, conditionOrder: this.#conditionOrder, hasUnseenWrite };
  }

  /** Each side keeps upstream's rules, whatever the two differ in. */
  #checkRules(index: number, step: Step, expected: Expected, outcome: Outcome): void {
    const context = { now: utcSecond(this.#now), isAnswered: expected.result !== undefined };
    for (const breach of this.#theirs.breaches(step, expected, { ...context, stored: expected.cache }))
      this.#report(index, step, breach.pod, 'recording', breach.expected, breach.got);
    for (const breach of this.#ours.breaches(step, outcome, { ...context, stored: outcome.written }))
      this.#report(index, step, breach.pod, `our ${breach.of}`, breach.expected, breach.got);
  }

  /** The status that the operation stored. It counts for both sides when they began the entry at the same moment or from the same copy. */
  #written({ op, podUID, pod: given }: Step, { written }: Outcome): Record<string, WirePodStatus> {
    const status = podUID === undefined ? undefined : written[podUID];
    if (podUID === undefined || status === undefined || given !== undefined) return {};
    const pod = this.#world.podOf(podUID) ?? '';
    const { entries, copy, resizes } = this.#memory(pod);
    const isKnown = podUID in this.#theirs.cache;
    const isOfCopy = copy !== undefined && (!isKnown || op === 'terminatePod' || op === 'reconcilePodReadiness');
    const isOnOneBase = isKnown || !areOutOfOrder(podUID, this.#world.uidsOf(pod), this.#world, this.#theirs.copies);
    if (isOfCopy || !isOnOneBase || entries.has(podUID) || resizes.has(podUID)) return {};
    return { [podUID]: status };
  }

  #comparePair(played: PlayedStep, pod: string, podUIDs: ReadonlySet<string>): void {
    const { index, step, expected, outcome } = played;
    this.#pairs++;
    const memory = this.#memory(pod);
    for (const podUID of podUIDs) {
      if (podUID in outcome.cache) memory.orphaned.delete(podUID);
      else if (memory.ourEntries.has(podUID) && step.op === 'removeOrphanedStatuses') memory.orphaned.add(podUID);
    }
    const pair = this.#pair(played, pod, podUIDs);
    const differences = new Differences(pair, this.#conditionOrder);
    const hadEntry = step.podUID !== undefined && step.podUID in this.#theirs.cache;
    const disorder = outOfOrder(step, podUIDs, expected, hadEntry, this.#world, this.#theirs.copies);
    if (disorder !== undefined) this.#checkAccepted(played, pair, disorder);
    if (differences.size === 0) memory.agreed((uid) => this.#theirs.finished.has(uid) !== this.#ours.finished.has(uid));
    else excuseWhatRulesExplain(pair, memory, differences, disorder);
    if (differences.size > 0)
      this.#found.push({ scenario: this.#scenario.name, step: index, op: step.op, pod, aspects: differences.list() });
    if (differences.used.size > 0) this.#exempt.push({ step: index, pod, rules: [...differences.used] });
    this.#checkSilence(index, pair, memory);
    this.#remember(pair, memory, expected, outcome);
  }

  /** D4: when upstream refuses a status only for the order of its init containers, our manager must accept it. */
  #checkAccepted({ index, step }: PlayedStep, { pod, ours }: Pair, { podUID, isRefused, isLegal }: OutOfOrder): void {
    if (!isRefused || !isLegal || podUID in this.#ours.cache) return;
    const isTaken = ours.notifications.some((notification) => notification.podUID === podUID);
    if (!isTaken) this.#report(index, step, pod, 'D4 init order', 'taken', 'refused');
  }

  /**
   * After a failed request upstream may not have written yet, so the servers do not show whether our manager wrote. Then a
   * recorded fact must explain why our manager has not.
   */
  #checkSilence(index: number, pair: Pair, memory: Memory): void {
    const { pod, step, ours, ourDue, theirRequests, ourRequests } = pair;
    if (!isWaiting(ourDue) || !theirRequests.isBehindAfterFailure(pod)) return;
    const hasReason = whyOursIsLate(pair, memory) !== undefined || ourRequests.hasNotDealtWithForeignWrite(pod);
    if (!hasReason && !this.#world.isReleased(ours.server?.uid)) this.#report(index, step, pod, 'our write', ourDue, 'nothing');
  }

  #pair({ step, began, hasBatch, expected, outcome, ourWrites }: PlayedStep, pod: string, podUIDs: ReadonlySet<string>): Pair {
    const isAsked = podUIDs.has(step.podUID ?? '');
    const view = (side: Expected | Outcome, writes: readonly Write[]): View => ({
      answer: isAsked ? answerOf(side, expected) : undefined,
      notifications: side.notifications.filter(({ podUID }) => podUIDs.has(podUID)),
      cache: ofPods(side.cache, podUIDs),
      server: side.server[pod] && { ...side.server[pod], deleting: side.server[pod].deleting === true },
      writes: writes.filter((write) => write.pod === pod),
      resizeConditions: ofPods(side.resizeConditions, podUIDs),
    });
    const second = utcSecond(this.#now);
    return {
      step,
      pod,
      podUIDs,
      began,
      now: this.#now,
      isFirst: step.podUID !== undefined && !(step.podUID in this.#theirs.cache) && !(step.podUID in this.#ours.cache),
      isTheirCopySettled: this.#isTheirCopySettled(pod, podUIDs, second),
      hasBatch,
      readsFirst: this.#variant.fetchBeforePatch === 'always',
      theirs: view(expected, expected.writes),
      ours: view(outcome, ourWrites),
      theirDue: this.#world.due(pod, expected, this.#theirs.finished, second),
      ourDue: this.#world.due(pod, outcome, this.#ours.finished, second),
      theirSide: this.#theirs,
      ourSide: this.#ours,
      theirRequests: this.#theirRequests,
      ourRequests: this.#ourRequests,
      world: this.#world,
      disruptionTimes: this.#disruptionTimes.get(pod) ?? new Set(),
    };
  }

  #isTheirCopySettled(pod: string, podUIDs: ReadonlySet<string>, second: string): boolean {
    const copies = [...podUIDs].map((uid) => [this.#theirs.copies.get(uid), this.#theirs.cache[uid]] as const);
    return copies.every(([copy, cached]) => {
      const due = copy && cached && this.#world.dueOf(pod, copy, cached, this.#theirs.finished, second);
      return due === undefined || due === 'nothing' || due === 'quiet';
    });
  }

  #remember(pair: Pair, memory: Memory, { server, recorded }: Expected, outcome: Outcome): void {
    const { step, pod, ourDue, theirDue } = pair;
    const ourWait = ourDue === 'nothing' ? undefined : whyOursIsLate(pair, memory);
    memory.waited = ourWait ?? (theirDue === 'nothing' ? undefined : whyTheirsIsLate(pair, memory));
    memory.isQuietLeft = ourDue === 'quiet' || theirDue === 'quiet';
    const uid = outcome.server[pod]?.uid;
    if (uid !== undefined && ourWait !== undefined) memory.unsent.set(uid, ourWait);
    else if (uid !== undefined) memory.unsent.delete(uid);
    this.#noteSettled(pair, memory);
    memory.serverUIDs = serverUIDs(pair);
    memory.ourEntries = new Set(Object.keys(pair.ours.cache));
    const isThere = pair.theirs.server !== undefined || pair.ours.server !== undefined;
    if (step.op === 'podManager.observe' && `${step.namespace}/${step.name}` === pod && isThere) {
      const isFilledIn = !isDeepStrictEqual(comparable(server[pod]?.status, true), comparable(recorded[pod]?.status, true));
      memory.copy = memory.apart ?? (isFilledIn ? 'D9 server fill-ins' : undefined) ?? memory.resizes.get(uid ?? '');
      const isDeleting = [pair.theirs, pair.ours].map((side) => side.server?.deleting === true);
      memory.deletionOnOne = isDeleting[0] === isDeleting[1] ? undefined : memory.apart;
    }
  }

  /** Notes whether the newest status has arrived. While the apiserver has the pod, it has when our manager has nothing left to write. */
  #noteSettled({ ours, ourDue, podUIDs }: Pair, { settled }: Memory): void {
    for (const { podUID } of ours.notifications) settled.delete(podUID);
    const stored = ours.server?.uid;
    if (stored === undefined || !(stored in ours.cache) || isWaiting(ourDue)) return;
    settled.add(stored);
    if (this.#world.isMirror(stored)) for (const podUID of podUIDs) if (this.#world.isStatic(podUID)) settled.add(podUID);
  }

  #memory(pod: string): Memory {
    const memory = this.#memories.get(pod) ?? new Memory();
    this.#memories.set(pod, memory);
    return memory;
  }

  #report(step: number, { op }: Step, pod: string, aspect: string, expected: unknown, got: unknown): void {
    this.#found.push({ scenario: this.#scenario.name, step, op, pod, aspects: [{ aspect, expected, got }] });
  }
}

function isWaiting(due: Due): boolean {
  return due === 'patch' || due === 'delete';
}

/** The operation's own answer, where one is recorded. */
function answerOf({ changed, result }: Expected | Outcome, expected: Expected): View['answer'] {
  return {
    changed: expected.changed === undefined ? undefined : changed,
    result: expected.result === undefined ? undefined : result,
  };
}

function ofPods<T>(byUID: Readonly<Record<string, T>>, podUIDs: ReadonlySet<string>): Record<string, T> {
  return Object.fromEntries(Object.entries(byUID).filter(([uid]) => podUIDs.has(uid)));
}

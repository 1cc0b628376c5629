import { evictionDamage, evictionRules, isEndOfEviction, isRefused, toleratedFullDisks } from './evicted-pods.ts';
import { type ContainerPlan, type Evidence, type FinalContainer, type PodEvidence, type Run, runsOf } from './evidence.ts';
import { keptTask } from './node-scan.ts';

export const rules = [
  'a container runs twice at once',
  'a container is started again for no reason',
  'a container is stopped for no reason',
  'an end is told other than once',
  'a status is untrue',
  'a pod lives on after it is gone',
  'a deleted pod does not go',
  'something of a pod is left over',
  'a secret outlives its pod',
  'a volume is emptied while mounted',
  ...evictionRules,
] as const;
export type Rule = (typeof rules)[number];

export interface Damage {
  readonly rule: Rule;
  readonly detail: string;
}

/** The kernel tells the time of its start in hundredths. */
const hundredth = 0.01;
const killed = 137;
/** What the runtime says of an end that it did not see, or could not write down before it was killed. */
const unknownToRuntime = 255;
/** So long it takes the runtime to write down an end, and to look at what has ended once it answers again. */
const writtenWithinSeconds = 1;

/** Every promise that the evidence shows broken. */
export function checkEvidence(evidence: Evidence): Damage[] {
  const damage = evidence.pods.flatMap((pod) => new PodCheck(pod, evidence).run());
  const secrets = evidence.secretsLeft.map((detail): Damage => ({ rule: 'a secret outlives its pod', detail }));
  return [...damage, ...secrets, ...toleratedFullDisks(evidence)];
}

/**
 * Where the call that starts a container is cut off by the agent's death while containerd makes the task, containerd forgets the task
 * and refuses to remove the container, and with it the sandbox, until it starts again: no agent can do anything about it. A death
 * cuts off one start of each pod at most, and the agent makes four at once.
 */
export function isKeptByRuntime(
  leftover: string,
  { createdAt, leftovers }: PodEvidence,
  { pods, agentKills }: Evidence,
): boolean {
  const isCutOff = hasKeptTask(leftovers) && agentKills.some((at) => at >= createdAt);
  const kept = pods.filter((pod) => hasKeptTask(pod.leftovers)).length;
  return isCutOff && kept <= agentKills.length * startsAtOnce && leftover.startsWith('container ');
}

const startsAtOnce = 4;

function hasKeptTask(leftovers: readonly string[]): boolean {
  return leftovers.some((one) => one.endsWith(keptTask));
}

class PodCheck {
  readonly #pod: PodEvidence;
  readonly #evidence: Evidence;
  readonly #damage: Damage[] = [];

  constructor(pod: PodEvidence, evidence: Evidence) {
    this.#pod = pod;
    this.#evidence = evidence;
  }

  run(): Damage[] {
    const { deletedAt, goneAt, runningWhenGone, leftovers } = this.#pod;
    for (const plan of this.#pod.containers) this.#container(plan, runsOf(this.#pod.witness[plan.name] ?? []));
    for (const [name, lines] of Object.entries(this.#pod.witness)) {
      const loss = lines.find(({ what }) => what === 'lost');
      if (loss !== undefined) this.#found('a volume is emptied while mounted', `${loss.how} of ${name} at ${loss.at}`);
    }
    if (deletedAt !== undefined && goneAt === undefined) this.#found('a deleted pod does not go', '');
    if (runningWhenGone > 0) this.#found('a pod lives on after it is gone', `${runningWhenGone} processes`);
    for (const what of leftovers) {
      if (!isKeptByRuntime(what, this.#pod, this.#evidence)) this.#found('something of a pod is left over', what);
    }
    for (const { rule, detail } of evictionDamage(this.#pod, this.#evidence)) this.#found(rule, detail);
    if (deletedAt === undefined) this.#status();
    return this.#damage;
  }

  #container(plan: ContainerPlan, runs: readonly Run[]): void {
    for (const [index, run] of runs.entries()) {
      const before = runs[index - 1];
      if (before === undefined) continue;
      if (run.from < before.to - hundredth) {
        this.#found(
          'a container runs twice at once',
          `${plan.name}: ${before.id} until ${before.to}, ${run.id} from ${run.from}`,
        );
      }
      if (!this.#mayStartAgain(plan, before, run)) {
        this.#found('a container is started again for no reason', `${plan.name} at ${run.from}, after ${before.how ?? 'no end'}`);
      }
    }
    const last = runs.at(-1);
    if (last === undefined || isNatural(last) || this.#pod.runningAtEnd.includes(plan.name)) return;
    const { deletedAt } = this.#pod;
    const isDeleted = deletedAt !== undefined && (last.how !== 'term' || last.to >= deletedAt - hundredth);
    if (isEndOfEviction(this.#pod, last, this.#evidence)) return;
    if (!isDeleted && !this.#wasInjured(plan.name, last.from, Number.POSITIVE_INFINITY)) {
      this.#found('a container is stopped for no reason', `${plan.name} at ${last.to}, ${last.how ?? 'no end'}`);
    }
  }

  #mayStartAgain(plan: ContainerPlan, before: Run, run: Run): boolean {
    if (this.#wasInjured(undefined, before.from, run.from)) return this.#pod.restarts;
    // an agent that was killed before it told of an eviction knows of none afterwards
    const isForgotten = this.#pod.eviction === undefined && isEndOfEviction(this.#pod, before, this.#evidence);
    if (!isNatural(before) && !isForgotten && !this.#wasInjured(plan.name, before.from, run.from)) return false;
    // an init container whose end nobody knows has not done its work
    if (plan.isInit && before.how === '0' && !this.#isToldUnknown(plan.name, before, run)) return false;
    return this.#pod.restarts;
  }

  /** The runtime was away, and where the status still tells of this end, it says that nobody knows how it ended. */
  #isToldUnknown(container: string, ended: Run, next: Run): boolean {
    const newest = runsOf(this.#pod.witness[container] ?? []).at(-1);
    const code = newest?.id === next.id ? this.#pod.final?.containers[container]?.lastExitCode : undefined;
    return this.#mayBeUnknown(ended) && (code === undefined || code === unknownToRuntime);
  }

  /** It ended while the runtime was away, so that the runtime may not know how. */
  #mayBeUnknown(run: Run): boolean {
    return this.#evidence.runtimeAways.some(
      ({ from, to }) => run.to >= from - writtenWithinSeconds && run.to <= to + writtenWithinSeconds,
    );
  }

  /** Without a name: the sandbox. */
  #wasInjured(container: string | undefined, from: number, to: number): boolean {
    return this.#evidence.injuries.some(
      (one) =>
        one.podUID === this.#pod.uid &&
        (one.container === undefined || one.container === container) &&
        one.at >= from - hundredth &&
        one.at <= to + hundredth,
    );
  }

  #status(): void {
    const { final, kind, containers, eviction } = this.#pod;
    if (final === undefined) {
      this.#found('a status is untrue', 'the pod is not there');
      return;
    }
    for (const plan of containers) {
      const told = final.containers[plan.name];
      const runs = runsOf(this.#pod.witness[plan.name] ?? []);
      if (told === undefined && isRefused(this.#pod)) continue;
      if (told === undefined) this.#found('a status is untrue', `${plan.name} is not told of`);
      else this.#told(plan, told, runs);
    }
    const expected = eviction !== undefined ? ['Failed'] : kind === 'batch' ? this.#batchPhases() : ['Running'];
    if (!expected.includes(final.phase)) this.#found('a status is untrue', `phase ${final.phase}, expected ${expected}`);
  }

  #told(plan: ContainerPlan, told: FinalContainer, runs: readonly Run[]): void {
    const isRunning = this.#pod.runningAtEnd.includes(plan.name);
    if (isRunning !== (told.state === 'running')) {
      this.#found('a status is untrue', `${plan.name} is told ${told.state}, and ${isRunning ? 'runs' : 'does not run'}`);
    }
    if (isRunning && !told.ready && !plan.isInit) this.#found('a status is untrue', `${plan.name} runs and is not told ready`);
    // an agent that was killed between making and starting a container cannot know that it never ran
    const kills = this.#evidence.agentKills.filter((at) => at >= this.#pod.createdAt).length;
    const least = Math.max(runs.length - 1, 0);
    const most = least + kills;
    if (told.restartCount < least || told.restartCount > most) {
      this.#found('an end is told other than once', `${plan.name}: ${runs.length} runs, restart count ${told.restartCount}`);
    }
    const ended = isRunning ? runs.at(-2) : runs.at(-1);
    const code = told.exitCode ?? told.lastExitCode;
    if (ended === undefined || code === undefined || !isNatural(ended)) return;
    const wasKilled = this.#wasInjured(plan.name, ended.from, Number.POSITIVE_INFINITY);
    const isUnknown = code === unknownToRuntime && this.#mayBeUnknown(ended);
    if (code !== Number(ended.how) && !(wasKilled && code === killed) && !isUnknown) {
      this.#found('an end is told other than once', `${plan.name} ended with ${ended.how}, told ${code}`);
    }
  }

  #batchPhases(): readonly string[] {
    const lasts = this.#pod.containers.map(({ name }) => runsOf(this.#pod.witness[name] ?? []).at(-1));
    if (lasts.every((last) => last?.how === '0')) {
      const codes = this.#pod.containers.map(({ name }) => this.#pod.final?.containers[name]?.exitCode);
      const isUnknown = lasts.some((last, index) => codes[index] === unknownToRuntime && last && this.#mayBeUnknown(last));
      return isUnknown ? ['Failed'] : ['Succeeded'];
    }
    // a container that is asked to end ends well, as it does when its machine goes down
    const isAsked = lasts.every(
      (last) => last?.how === 'term' && this.#wasInjured(undefined, last.from, Number.POSITIVE_INFINITY),
    );
    return isAsked ? ['Succeeded', 'Failed'] : ['Failed'];
  }

  #found(rule: Rule, detail: string): void {
    this.#damage.push({ rule, detail: `${this.#pod.name} (${this.#pod.kind}): ${detail}` });
  }
}

/** It ended by itself. */
function isNatural({ how }: Run): boolean {
  return how !== undefined && how !== 'term';
}

import { type ContainerPlan, type Evidence, type FinalContainer, type PodEvidence, type Run, runsOf } from './evidence.ts';

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
] as const;
export type Rule = (typeof rules)[number];

export interface Damage {
  readonly rule: Rule;
  readonly detail: string;
}

/** The kernel tells the time of its start in hundredths. */
const hundredth = 0.01;
const killed = 137;

/** Every promise that the evidence shows broken. */
export function checkEvidence(evidence: Evidence): Damage[] {
  const damage = evidence.pods.flatMap((pod) => new PodCheck(pod, evidence).run());
  const secrets = evidence.secretsLeft.map((detail): Damage => ({ rule: 'a secret outlives its pod', detail }));
  return [...damage, ...secrets];
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
    for (const what of leftovers) this.#found('something of a pod is left over', what);
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
    if (!isDeleted && !this.#wasInjured(plan.name, last.from, Number.POSITIVE_INFINITY)) {
      this.#found('a container is stopped for no reason', `${plan.name} at ${last.to}, ${last.how ?? 'no end'}`);
    }
  }

  #mayStartAgain(plan: ContainerPlan, before: Run, run: Run): boolean {
    if (this.#wasInjured(undefined, before.from, run.from)) return this.#pod.restarts;
    if (!isNatural(before) && !this.#wasInjured(plan.name, before.from, run.from)) return false;
    if (plan.isInit && before.how === '0') return false;
    return this.#pod.restarts;
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
    const { final, kind, containers } = this.#pod;
    if (final === undefined) {
      this.#found('a status is untrue', 'the pod is not there');
      return;
    }
    for (const plan of containers) {
      const told = final.containers[plan.name];
      const runs = runsOf(this.#pod.witness[plan.name] ?? []);
      if (told === undefined) this.#found('a status is untrue', `${plan.name} is not told of`);
      else this.#told(plan, told, runs);
    }
    const expected = kind === 'batch' ? this.#batchPhases() : ['Running'];
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
    const [least, most] = [runs.length - 1, runs.length - 1 + kills];
    if (told.restartCount < least || told.restartCount > most) {
      this.#found('an end is told other than once', `${plan.name}: ${runs.length} runs, restart count ${told.restartCount}`);
    }
    const ended = isRunning ? runs.at(-2) : runs.at(-1);
    const code = told.exitCode ?? told.lastExitCode;
    if (ended === undefined || code === undefined || !isNatural(ended)) return;
    const wasKilled = this.#wasInjured(plan.name, ended.from, Number.POSITIVE_INFINITY);
    if (code !== Number(ended.how) && !(wasKilled && code === killed)) {
      this.#found('an end is told other than once', `${plan.name} ended with ${ended.how}, told ${code}`);
    }
  }

  #batchPhases(): readonly string[] {
    const lasts = this.#pod.containers.map(({ name }) => runsOf(this.#pod.witness[name] ?? []).at(-1));
    if (lasts.every((last) => last?.how === '0')) return ['Succeeded'];
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

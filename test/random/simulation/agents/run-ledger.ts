import type { FakeRuntime, RuntimeHappening } from '../../../../src/testing.ts';
import type { AgentFound } from './rules.ts';

/** One container as it really ran. */
export interface RealRun {
  readonly id: string;
  readonly podUID: string;
  readonly name: string;
  readonly attempt: number;
  state: 'created' | 'running' | 'exited';
  exitCode: number | undefined;
  /** False once the runtime has removed it. */
  isListed: boolean;
}

/** All that ever ran, from the runtime's own account, which no event and no answer can miss. */
export class RunLedger {
  readonly #runtime: FakeRuntime;
  readonly #found: AgentFound;
  readonly #runs = new Map<string, RealRun>();
  readonly #readySandboxes = new Map<string, string>();
  #read = 0;

  constructor(runtime: FakeRuntime, found: AgentFound) {
    this.#runtime = runtime;
    this.#found = found;
  }

  /** Takes in what has happened since it was called last. */
  catchUp(): void {
    const { history } = this.#runtime;
    for (; this.#read < history.length; this.#read += 1) {
      const happening = history[this.#read];
      if (happening?.what === 'container') this.#container(happening);
      else if (happening !== undefined) this.#sandbox(happening);
    }
  }

  get(id: string): RealRun | undefined {
    return this.#runs.get(id);
  }

  ofPod(podUID: string): RealRun[] {
    return [...this.#runs.values()].filter((run) => run.podUID === podUID);
  }

  /** The newest container of that name. */
  newest(podUID: string, name: string): RealRun | undefined {
    return this.ofPod(podUID).findLast((run) => run.name === name);
  }

  all(): RealRun[] {
    return [...this.#runs.values()];
  }

  running(): RealRun[] {
    return this.all().filter(({ state }) => state === 'running');
  }

  /** The pods with a sandbox that is ready. */
  podsWithSandbox(): ReadonlySet<string> {
    return new Set(this.#readySandboxes.values());
  }

  #container({ type, id, podUID, name, attempt, exitCode }: RuntimeHappening): void {
    const known = this.#runs.get(id);
    if (type === 'created') {
      this.#runs.set(id, { id, podUID, name, attempt, state: 'created', exitCode: undefined, isListed: true });
    } else if (known !== undefined && type === 'started') {
      const rival = this.running().find((run) => run.podUID === podUID && run.name === name);
      if (rival !== undefined) this.#found('nothing runs twice', `${name} of ${podUID}: ${rival.id} runs, and ${id} starts`);
      known.state = 'running';
    } else if (known !== undefined && type === 'stopped') Object.assign(known, { state: 'exited', exitCode });
    else if (known !== undefined) known.isListed = false;
  }

  #sandbox({ type, id, podUID }: RuntimeHappening): void {
    if (type === 'created') {
      const rival = [...this.#readySandboxes].find(([, uid]) => uid === podUID);
      if (rival !== undefined) this.#found('nothing runs twice', `a second sandbox of ${podUID}: ${rival[0]} is ready`);
      this.#readySandboxes.set(id, podUID);
    } else if (type !== 'started') this.#readySandboxes.delete(id);
  }
}

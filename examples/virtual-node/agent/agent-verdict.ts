import type { WireContainerStatus, WirePod } from 'pod-status-manager';
import type { RuntimeHappening } from 'pod-status-manager/testing';

interface Life {
  readonly podUID: string;
  readonly name: string;
  readonly state: 'created' | 'running' | 'exited';
  readonly exitCode: number | undefined;
}

/** What happened in the runtime, by container. Those that were removed are not in it. */
export class RuntimeLives {
  /** Containers that were started, and those that have ended. */
  started = 0;
  ended = 0;
  readonly byID = new Map<string, Life>();
  readonly #history: readonly RuntimeHappening[];
  #read = 0;

  constructor(history: readonly RuntimeHappening[]) {
    this.#history = history;
  }

  /** Reads what has happened since the last call. */
  update(): this {
    for (; this.#read < this.#history.length; this.#read++) {
      const happening = this.#history[this.#read];
      if (happening?.what === 'container') this.#note(happening);
    }
    return this;
  }

  #note({ type, id, podUID, name, exitCode }: RuntimeHappening): void {
    if (type === 'started') this.started++;
    if (type === 'stopped') this.ended++;
    const state = type === 'created' ? 'created' : type === 'started' ? 'running' : 'exited';
    if (type === 'deleted') this.byID.delete(id);
    else this.byID.set(id, { podUID, name, state, exitCode });
  }
}

/** Where the server's pods and the runtime's containers do not agree, one sentence each. */
export function disagreements(pods: readonly WirePod[], lives: ReadonlyMap<string, Life>): string[] {
  const known = new Set(pods.map(({ metadata }) => metadata?.uid));
  const wrong = [...lives.values()]
    .filter(({ podUID, state }) => state === 'running' && !known.has(podUID))
    .map(({ podUID, name }) => `the container ${name} of the deleted pod ${podUID} runs on`);
  wrong.push(...doubles(lives));
  for (const { metadata, status } of pods) {
    const { initContainerStatuses = [], containerStatuses = [] } = status ?? {};
    for (const container of [...initContainerStatuses, ...containerStatuses]) {
      const difference = differenceOf(container, lives);
      if (difference !== undefined) wrong.push(`${metadata?.name}/${container.name} ${difference}`);
    }
  }
  return wrong;
}

/** A container of a pod that runs twice. */
function doubles(lives: ReadonlyMap<string, Life>): string[] {
  const running = [...lives.values()].filter(({ state }) => state === 'running').map(({ podUID, name }) => `${podUID} ${name}`);
  const twice = running.filter((key, index) => running.indexOf(key) !== index);
  return twice.map((key) => `the container ${key} runs twice`);
}

function differenceOf({ state, containerID = '' }: WireContainerStatus, lives: ReadonlyMap<string, Life>): string | undefined {
  const life = lives.get(containerID.slice(containerID.indexOf('://') + 3));
  if (state?.running !== undefined && life?.state !== 'running') return 'is said to run, and does not';
  if (state?.terminated === undefined || life === undefined) return undefined;
  if (life.state === 'running') return 'is said to have ended, and runs';
  const { exitCode } = state.terminated;
  return exitCode === life.exitCode ? undefined : `ended with ${life.exitCode}, and is said to have ended with ${exitCode}`;
}

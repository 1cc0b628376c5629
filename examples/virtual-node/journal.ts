import type { Logger, Pod } from 'pod-status-manager';
import { podWords } from './pod-words.ts';

const kept = 20;
const wordsShown = 14;

/** What the server said of a pod, from its first word on. */
interface ToldLife {
  readonly name: string;
  readonly words: string[];
}

/** What has happened, newest last: what the server says of each pod, and what the library warns of. It is bounded. */
export class Journal implements Logger {
  /** What became of the pods. */
  readonly events: string[] = [];
  /** Warnings and errors of the library, each with its pod. */
  readonly warnings: string[] = [];
  warned = 0;
  readonly #startedAt = performance.now();
  readonly #lives = new Map<string, ToldLife>();
  /** The life with the most words, by the kind of pod. */
  readonly #longest = new Map<string, ToldLife>();

  /** Takes a pod as the server has it now; undefined once it is gone. */
  note(podUID: string, pod: Pod | undefined): void {
    const life = this.#lives.get(podUID) ?? { name: pod?.metadata?.name ?? podUID, words: [] };
    const word = pod === undefined ? 'gone' : podWords(pod);
    if (pod === undefined) this.#lives.delete(podUID);
    else this.#lives.set(podUID, life);
    if (life.words.at(-1) === word) return;
    life.words.push(word);
    // the first words and the last ones are shown
    if (life.words.length > wordsShown) life.words.splice(wordsShown - 3, 2, '…');
    const kind = life.name.split('-', 1)[0] ?? '';
    if (life.words.length >= (this.#longest.get(kind)?.words.length ?? 0)) this.#longest.set(kind, life);
    this.event(`${life.name} ${word}`);
  }

  event(text: string): void {
    this.#add(this.events, text);
  }

  /** What became of some of the pods, one line for each kind. */
  examples(): string[] {
    return Array.from(this.#longest.values(), ({ name, words }) => `${name}: ${words.join(', ')}`);
  }

  debug(): void {}

  info(): void {}

  warn(fields: LineFields, message: string): void {
    this.warned++;
    this.#add(this.warnings, lineText(fields, message));
  }

  error(fields: LineFields, message: string): void {
    this.warn(fields, message);
  }

  #add(list: string[], text: string): void {
    list.push(`${((performance.now() - this.#startedAt) / 1000).toFixed(1)} s ${text}`);
    if (list.length > kept) list.shift();
  }
}

interface LineFields {
  readonly podNamespace?: unknown;
  readonly podName?: unknown;
  readonly err?: unknown;
}

function lineText({ podNamespace, podName, err }: LineFields, message: string): string {
  const pod = typeof podName === 'string' ? `${podNamespace}/${podName}: ` : '';
  return `${pod}${message}${err === undefined ? '' : `: ${describeError(err)}`}`.slice(0, 400);
}

/** One line of at most 400 characters, also for errors that have only a code. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  const [line = code] = (error.message || code).split('\n');
  return line.length > 400 ? `${line.slice(0, 400)} ...` : line;
}

import type { WirePod } from 'pod-status-manager';
import type { PodEvent } from 'pod-status-manager/testing';
import { podWords } from './pod-words.ts';

/** What the server said of each pod, from its first word to its end. */
export class ToldLives {
  readonly #lives = new Map<string, string[]>();

  /** Takes an event of the server's pods. */
  note({ type, object }: PodEvent): void {
    const name = nameOf(object);
    const words = this.#lives.get(name) ?? [];
    this.#lives.set(name, words);
    const word = type === 'DELETED' ? 'gone' : podWords(object);
    if (words.at(-1) !== word) words.push(word);
  }

  /** For each kind of pod the life with the most words, one line each. */
  examples(): string[] {
    const byKind = Map.groupBy(this.#lives, ([name]) => name.split('-', 1)[0]);
    return [...byKind.values()].map((lives) => {
      const [name, words] = lives.reduce((one, other) => (other[1].length > one[1].length ? other : one));
      return `${name}: ${shortened(words).join(', ')}`;
    });
  }
}

const wordsShown = 14;

function shortened(words: readonly string[]): readonly string[] {
  return words.length <= wordsShown ? words : [...words.slice(0, wordsShown - 3), '…', ...words.slice(-2)];
}

function nameOf({ metadata }: WirePod): string {
  return metadata?.name ?? '';
}

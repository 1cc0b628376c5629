import { RE2JS } from 're2js';
import type { CelMeter } from '../cel-meter.ts';
import { CelFailure } from '../values.ts';

/** Patterns that were compiled last are kept, of so many steps together: those of an expression are used for every device. */
const mostPatterns = 100;
const mostKept = 100_000;
/** How many steps of an automaton count as one step of work, and how much work one step is to make. */
const stepsInWork = 4;
const workToMake = 40;
/** How large the automaton may be: a repeat takes room for each time. */
const largestPattern = 50_000;
/** The library takes no repeats of repeats beyond this. */
const mostRepeats = 1000;

/** Regular expressions of RE2, which take time in proportion to the text, whatever the pattern. */
export class Patterns {
  readonly #compiled = new Map<string, RE2JS | string>();
  #kept = 0;

  /** What is wrong with a pattern. */
  problem(pattern: string): string | undefined {
    const compiled = this.#pattern(pattern);
    return typeof compiled === 'string' ? compiled : undefined;
  }

  /** Whether the pattern is found anywhere in the text. */
  test(pattern: string, text: string, meter: CelMeter): boolean | CelFailure {
    const compiled = this.#ready(pattern, text, meter);
    return compiled instanceof CelFailure ? compiled : compiled.matcher(text).find();
  }

  /** What the pattern finds in the text from the left, at most so many times; all of it where that is less than zero. */
  findAll(pattern: string, text: string, most: number, meter: CelMeter): string[] | CelFailure {
    const compiled = this.#ready(pattern, text, meter);
    if (compiled instanceof CelFailure) return compiled;
    return most === 0 ? [] : (compiled.re2().findAll(text, most) ?? []);
  }

  #ready(pattern: string, text: string, meter: CelMeter): RE2JS | CelFailure {
    if (!this.#compiled.has(pattern)) meter.work(Math.min(patternSize(pattern), largestPattern) * workToMake);
    const compiled = this.#pattern(pattern);
    if (typeof compiled === 'string') return new CelFailure(compiled);
    meter.work(Math.ceil((compiled.programSize() * (text.length + 1)) / stepsInWork));
    return compiled;
  }

  #pattern(pattern: string): RE2JS | string {
    const known = this.#compiled.get(pattern);
    if (known !== undefined) return known;
    const compiled = this.#compile(pattern);
    const size = typeof compiled === 'string' ? pattern.length : compiled.programSize();
    if (this.#compiled.size >= mostPatterns || this.#kept + size > mostKept) {
      this.#compiled.clear();
      this.#kept = 0;
    }
    this.#compiled.set(pattern, compiled);
    this.#kept += size;
    return compiled;
  }

  #compile(pattern: string): RE2JS | string {
    if (patternSize(pattern) > largestPattern) return 'this regular expression is too large';
    try {
      return RE2JS.compile(pattern);
    } catch (error) {
      return `this is no regular expression of RE2: ${error instanceof Error ? error.message : pattern}`;
    }
  }
}

/**
 * The size of the automaton of a pattern, or more. What follows a group repeats all that is in it, other repeats as well: the whole pattern
 * counts for it.
 */
export function patternSize(pattern: string): number {
  let size = pattern.length;
  let times = 1;
  for (const [, group, least = '0', most] of pattern.matchAll(/(\)?)\{(\d+)(?:,(\d*))?\}/g)) {
    const repeats = Math.max(Number(least), Number(most ?? 0), 1);
    if (group === ')') times = Math.min(times * repeats, mostRepeats);
    else size += repeats;
  }
  return size * times;
}

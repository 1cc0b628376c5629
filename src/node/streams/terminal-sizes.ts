import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { TerminalSize } from './container-streams.ts';

/** So much of one size is read. A size has about 30 characters. */
const longestSize = 1024;
const mostCells = 65_535;

/** Reads the sizes of a client's terminal: JSON objects, one after another. */
export class TerminalSizes {
  readonly #listeners: ((size: TerminalSize) => void)[] = [];
  #size: TerminalSize | undefined;
  #text = '';

  readonly onResize = (listener: (size: TerminalSize) => void): void => {
    this.#listeners.push(listener);
    const size = this.#size;
    if (size !== undefined) callGuarded(() => listener(size), ignoreFailure);
  };

  /** What cannot be read is left out. */
  receive(piece: Buffer): void {
    for (let at = 0; at < piece.length; at += longestSize) {
      const parts = (this.#text + piece.toString('latin1', at, at + longestSize)).split('}');
      this.#text = parts.pop()?.slice(0, longestSize) ?? '';
      for (const part of parts) this.#take(`${part}}`);
    }
  }

  #take(text: string): void {
    const size = readSize(text);
    if (size === undefined || (size.columns === this.#size?.columns && size.rows === this.#size.rows)) return;
    this.#size = size;
    for (const listener of this.#listeners) callGuarded(() => listener(size), ignoreFailure);
  }
}

function readSize(text: string): TerminalSize | undefined {
  try {
    const { Width: columns, Height: rows } = JSON.parse(text) as { Width?: unknown; Height?: unknown };
    return isCells(columns) && isCells(rows) ? { columns, rows } : undefined;
  } catch {
    return undefined;
  }
}

function isCells(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) <= mostCells;
}

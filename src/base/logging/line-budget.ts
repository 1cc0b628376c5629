import { withoutSecrets } from '../secrets.ts';

const longestText = 500;
const longestKey = 100;
const longestStack = 2000;
const mostCharacters = 4000;
const mostMembers = 200;
/** The most characters that JSON makes of one. */
const widest = 6;

/** What one log line may still hold: all its values share one limit, however many there are and however deep they stand. */
export class LineBudget {
  #characters = mostCharacters;
  #members = mostMembers;

  /** Takes room for one member of an object or of a list. False once the line is full. */
  takeMember(): boolean {
    if (this.#members === 0 || this.#characters <= 0) return false;
    this.#members -= 1;
    return true;
  }

  /** The text, or as much of it as the line has room for, without what opens a door. */
  text(text: string): string {
    return this.#take(withoutSecrets(text.slice(0, 2 * longestText)), longestText);
  }

  key(key: string): string {
    return this.#take(key, longestKey);
  }

  stack(stack: string): string {
    return this.#take(stack, longestStack);
  }

  #take(text: string, longest: number): string {
    let taken = text.length > longest ? `${text.slice(0, longest)}…` : text;
    const room = Math.max(0, this.#characters);
    this.#characters = room - written(taken);
    // of characters that JSON writes as six, fewer fit
    if (this.#characters < 0) taken = `${text.slice(0, Math.floor(room / widest))}…`;
    return taken;
  }
}

/** How long the text is in JSON, at most. */
function written(text: string): number {
  const foreign = text.match(/[^\u0020-\u007e\u00a0-\u2027\u202a-\ud7ff\ue000-\uffff]/g)?.length ?? 0;
  const escaped = text.match(/["\\]/g)?.length ?? 0;
  return text.length + foreign * (widest - 1) + escaped;
}

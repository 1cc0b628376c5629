import type { ReadTime, ReadTimes } from './read-time.ts';

interface UnderWay<T> {
  readonly began: ReadTime;
  readonly answer: Promise<T>;
}

/** One read at a time. Whoever asks shares the read under way if that one is new enough, else the one after it. */
export class SharedRead<T> {
  readonly #times: ReadTimes;
  readonly #read: (began: ReadTime) => Promise<T>;
  #underWay: UnderWay<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(times: ReadTimes, read: (began: ReadTime) => Promise<T>) {
    this.#times = times;
    this.#read = read;
  }

  /** True while nobody waits and nothing is read. */
  get isIdle(): boolean {
    return this.#underWay === undefined && this.#next === undefined;
  }

  /** What a read answers that begins now or later, or that is under way and new enough. */
  ask(isNewEnough: (began: ReadTime) => boolean = () => false): Promise<T> {
    const { answer, began } = this.#underWay ?? {};
    if (answer === undefined || began === undefined) return this.#next ?? this.begin(this.#times.begin(), this.#read);
    if (isNewEnough(began)) return answer;
    const askAgain = (): Promise<T> => {
      this.#next = undefined;
      return this.begin(this.#times.begin(), this.#read);
    };
    this.#next ??= answer.then(askAgain, askAgain);
    return this.#next;
  }

  /** Begins a read of one's own; only while {@link isIdle}. */
  begin(began: ReadTime, read: (began: ReadTime) => Promise<T>): Promise<T> {
    const answer = read(began).finally(() => {
      this.#underWay = undefined;
    });
    this.#underWay = { began, answer };
    return answer;
  }
}

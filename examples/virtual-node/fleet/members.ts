import { pause } from '../pause.ts';
import type { Random } from '../random.ts';
import { MemberHandle, type MemberParts } from './member-handle.ts';
import type { MemberSettings, ToMember } from './messages.ts';

export interface MembersOptions extends MemberParts {
  readonly settings: Omit<MemberSettings, 'id' | 'debugPort'>;
  /** How many there are. */
  readonly count: number;
  /** Of the page, which the first member serves. */
  readonly debugPort: number | undefined;
  readonly random: Random;
  readonly note: (event: string) => void;
}

/** Something is done to a member so often, at random around it. */
const faultEveryMs = 4_000;
const againMs = 1_000;

/** The processes of the fleet. One is killed, stopped or frozen now and then, but the first one: its page is looked at. */
export class Members {
  readonly #options: MembersOptions;
  #all: MemberHandle[] = [];
  #started = 0;
  readonly counts = { killed: 0, stopped: 0, frozen: 0 };

  constructor(options: MembersOptions) {
    this.#options = options;
    for (let index = 0; index < options.count; index += 1) this.#start();
  }

  get all(): readonly MemberHandle[] {
    return this.#all;
  }

  get started(): number {
    return this.#started;
  }

  /** How many nodes they run, as they say. */
  get running(): number {
    return this.#all.reduce((sum, { state }) => sum + (state?.running ?? 0), 0);
  }

  /** Where the page is; undefined without a port. */
  page(): Promise<string | undefined> {
    return this.#all[0]?.page ?? Promise.resolve(undefined);
  }

  tell(message: ToMember): void {
    for (const member of this.#all) member.tell(message);
  }

  /** Lets things happen to members until the signal aborts. Then all are awake, and as many as there should be. */
  async breakUntil(over: AbortSignal): Promise<void> {
    const { random } = this.#options;
    // each kind in turn, in an order of the seed
    const kinds = ['killed', 'stopped', 'frozen'] as const;
    let next = Math.floor(random.next() * kinds.length);
    while (await pause(random.between(0.7, 1.3) * faultEveryMs, over)) {
      const victim = random.pick(this.#all.slice(1).filter(({ state, isLeaving }) => !isLeaving && (state?.running ?? 0) > 0));
      if (victim === undefined) continue;
      await this.#break(victim, kinds[next % kinds.length] ?? 'killed', over);
      next += 1;
    }
  }

  /** Ends all of them in peace. */
  async stop(): Promise<void> {
    await Promise.all(this.#all.map((member) => member.stop()));
  }

  /** Whatever state they are in. */
  async kill(): Promise<void> {
    await Promise.all(this.#all.filter(({ isAlive }) => isAlive).map((member) => member.kill()));
  }

  async #break(member: MemberHandle, kind: 'killed' | 'stopped' | 'frozen', over: AbortSignal): Promise<void> {
    const { note, settings } = this.#options;
    this.counts[kind] += 1;
    note(`${member.id} is ${kind}`);
    if (kind === 'frozen') {
      member.freeze();
      // for longer than its Leases last: others take its nodes
      await pause(settings.leaseDurationMs + againMs, over);
      member.thaw();
      note(`${member.id} wakes up`);
      return;
    }
    await (kind === 'killed' ? member.kill() : member.stop());
    this.#all = this.#all.filter((one) => one !== member);
    await pause(againMs, over);
    note(`${this.#start().id} comes`);
  }

  #start(): MemberHandle {
    const { settings, debugPort } = this.#options;
    this.#started += 1;
    const isFirst = this.#started === 1;
    const own = { ...settings, id: `member-${this.#started}`, debugPort: isFirst ? debugPort : undefined };
    const member = new MemberHandle(own, this.#options);
    this.#all.push(member);
    return member;
  }
}

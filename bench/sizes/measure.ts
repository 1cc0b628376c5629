import { median } from '../support/statistics.ts';

/** One input of a certain size. */
export interface Sized {
  readonly bytes: number;
  /** What the library does with it: once for each round. A promise where that takes several turns. */
  readonly run: () => unknown;
  /** Makes what the library keeps of it. */
  readonly held?: () => unknown;
}

/** An input whose size others choose. */
export interface SizedInput {
  readonly input: string;
  /** How many there are in the largest one that gets through. */
  readonly most: number;
  /** The input with so many. */
  readonly make: (count: number) => Sized;
}

export interface Row {
  readonly input: string;
  readonly count: number;
  readonly bytes: number;
  /** The longest turn at a quarter of the size, at half of it and at all of it: the median of the rounds. */
  readonly ms: readonly [quarter: number, half: number, whole: number];
  readonly worstMs: number;
  /** All the time at the whole size by that at a quarter: 4 where it is linear. Undefined for what is too short to tell. */
  readonly growth: number | undefined;
  /** Bytes of memory for each byte that came. */
  readonly heldPerByte: number | undefined;
}

const shares = [1 / 4, 1 / 2, 1] as const;
/** A shorter turn says more of the clock than of the work. */
const shortestToCompare = 0.5;
/** After so many rounds the compiler has done its work. */
const warmUps = 5;
/** What takes long is measured less often. */
const longestMs = 1500;

export async function measure({ input, most, make }: SizedInput, rounds: number): Promise<Row> {
  const warm = make(Math.ceil(most / 8));
  for (let round = 0; round < warmUps; round++) await takenBy(warm.run);
  const taken: Taken[][] = [];
  let bytes = 0;
  let heldPerByte: number | undefined;
  for (const share of shares) {
    const sized = make(Math.ceil(most * share));
    taken.push(await roundsOf(sized.run, rounds));
    bytes = sized.bytes;
    if (share === 1 && sized.held !== undefined) heldPerByte = heldBytes(sized.held) / bytes;
  }
  const [quarter = 0, half = 0, whole = 0] = taken.map((of) => median(of.map(({ turn }) => turn)));
  const [allOfQuarter = 0, , all = 0] = taken.map((of) => median(of.map((one) => one.all)));
  const growth = all < shortestToCompare ? undefined : all / allOfQuarter;
  const worstMs = Math.max(...(taken.at(-1) ?? []).map(({ turn }) => turn));
  return { input, count: most, bytes, ms: [quarter, half, whole], worstMs, growth, heldPerByte };
}

async function roundsOf(run: () => unknown, rounds: number): Promise<Taken[]> {
  const taken: Taken[] = [];
  for (let sum = 0; taken.length < rounds && (taken.length < 3 || sum < longestMs); ) {
    globalThis.gc?.();
    const one = await takenBy(run);
    taken.push(one);
    sum += one.all;
  }
  return taken;
}

/** What one run took, in milliseconds of this thread's processor time: what others do on the machine does not count. */
interface Taken {
  /** The longest turn of the event loop. */
  readonly turn: number;
  readonly all: number;
}

async function takenBy(run: () => unknown): Promise<Taken> {
  const begun = threadMs();
  let [at, turn] = [begun, 0];
  const note = (): void => {
    const now = threadMs();
    turn = Math.max(turn, now - at);
    at = now;
  };
  let next: NodeJS.Immediate | undefined;
  const look = (): void => {
    note();
    next = setImmediate(look);
  };
  const answer = run();
  note();
  if (answer instanceof Promise) {
    next = setImmediate(look);
    await answer;
    note();
    clearImmediate(next);
  }
  return { turn, all: at - begun };
}

/** Of this thread's processor time. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** How many bytes of memory are held by what `make` returns. */
function heldBytes(make: () => unknown): number {
  const used = (): number => {
    for (let round = 0; round < 3; round++) globalThis.gc?.();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const kept: unknown[] = [make()];
  kept.length = 0;
  const before = used();
  kept.push(make());
  return used() - before;
}

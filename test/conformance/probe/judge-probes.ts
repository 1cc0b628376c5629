import { isDeepStrictEqual } from 'node:util';
import type { PlayedProbes } from './play-probes.ts';
import type { ProbeCase } from './probe-case.ts';

/** What differs between the recording and our outcomes: step by step and member by member. There is no exemption. */
export function judgeProbes({ steps }: ProbeCase, { outcomes, leftTimers }: PlayedProbes): string[] {
  const differences = steps.flatMap(({ op, expect }, index) => {
    const expected = expect as Readonly<Record<string, unknown>>;
    const got = (outcomes[index] ?? {}) as Readonly<Record<string, unknown>>;
    const members = new Set([...Object.keys(expected), ...Object.keys(got)]);
    const different = [...members].filter((member) => !isDeepStrictEqual(expected[member], got[member]));
    return different.map((member) => {
      const [told, done] = [expected[member], got[member]].map((value) => JSON.stringify(value));
      return `step ${index} (${op}), ${member}: expected ${told}, got ${done}`;
    });
  });
  return leftTimers > 0 ? [...differences, `the stopped manager left ${leftTimers} timers`] : differences;
}

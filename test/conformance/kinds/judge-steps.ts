import { isDeepStrictEqual } from 'node:util';

type Members = Readonly<Record<string, unknown>>;

interface SteppedCase {
  readonly steps: readonly { readonly op: string; readonly expect: object }[];
}

/** What differs between the recording and our outcomes: step by step and member by member. There is no exemption. */
export function judgeSteps({ steps }: SteppedCase, outcomes: readonly object[]): string[] {
  return steps.flatMap(({ op, expect }, index) => {
    const [expected, got] = [expect as Members, (outcomes[index] ?? {}) as Members];
    const members = new Set([...Object.keys(expected), ...Object.keys(got)]);
    const different = [...members].filter((member) => !isDeepStrictEqual(expected[member], got[member]));
    return different.map((member) => {
      const [told, done] = [expected[member], got[member]].map((value) => JSON.stringify(value));
      return `step ${index} (${op}), ${member}: expected ${told}, got ${done}`;
    });
  });
}

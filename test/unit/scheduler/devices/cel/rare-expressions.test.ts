import { expect, it } from 'vitest';
import { celResult, compileProblem } from '../cel-world.ts';

/** What is wrong with it when it is read, or what it comes to. */
function answer(expression: string): unknown {
  const problem = compileProblem(expression);
  return problem === 'nothing' ? celResult(expression) : problem;
}

// C107
it.each([
  ["'ab'.matches('(?P<n>a)(?P<n>b)')", 'duplicate capture group name'],
  ["dyn(optional.of('x')).matches('c')", 'a regular expression is for texts'],
  ["{dyn(1): 1, dyn(1.0): 2}.transformMapEntry(k, v, {k: 'a'}).size() == 2", 'a key is there twice'],
  ["[?dyn('a')].size() == 1", 'has to be an optional value'],
  ["{?'k': optional.of(1 / 0)}.size() == 1", 'a number was divided by zero'],
  ['type(1) == google.protobuf.Timestamp', 'nothing is called google'],
])('refuses what upstream takes, or ends by: %s', (expression, words) => {
  expect(answer(expression)).toContain(words);
});

/** What can be wrong with a policy, in words of our own for both messages. */
export type PolicyFault = 'kind' | 'weight' | 'arguments' | 'predicate' | 'priority' | 'labels' | 'weights' | 'unknown';

const conflict =
  'presentLabels(Preference)?\\[\\d+\\]: Invalid value: "[\\w-]+": conflict with absentLabels(Preference)?\\[\\d+\\]';
const unweighted = 'priority [\\w-]+ should have a positive weight applied to it or it has overflown';
const weights = '(LabelPreference|ServiceAntiAffinity) {2}priority "[\\w-]+" has a different weight with "[\\w-]+"';
const upstream: readonly (readonly [RegExp, PolicyFault])[] = [
  [/^invalid policy: no kind "\w+" is registered for version "\w+" in scheme "pkg\/runtime\/scheme.go:100"$/, 'kind'],
  [new RegExp(`: \\[?${unweighted}(, (${unweighted}|${weights}))*\\]?$`), 'weight'],
  [/: exactly 1 predicate argument is required, numArgs: 0, predicate \{[\w-]+ 0x\?\}$/, 'arguments'],
  [/: predicate type not found for "\w+"$/, 'predicate'],
  [/: priority type not found for "\w+"$/, 'priority'],
  [new RegExp(`: \\[?${conflict}(, ${conflict})*\\]?$`), 'labels'],
  [new RegExp(`: \\[?${weights}(, (${unweighted}|${weights}))*\\]?$`), 'weights'],
];

const ours: readonly (readonly [RegExp, PolicyFault])[] = [
  [/^Expected `policy\.(kind|apiVersion)` to be one of /, 'kind'],
  [/^Expected `policy\.priorities\[\d+\]\.weight` to be a whole number from 1 /, 'weight'],
  [/^Expected `policy\.predicates\[\d+\]\.argument` to be an object with exactly one of /, 'arguments'],
  [/^Expected `policy\.predicates\[\d+\]\.name` to be the name of a predicate /, 'predicate'],
  [/^Expected `policy\.priorities\[\d+\]\.name` to be the name of a priority /, 'priority'],
  [/ to be a label that no other entry asks for the opposite of, /, 'labels'],
  [/^Expected `policy\.priorities\[\d+\]\.weight` to be \d+, the weight of /, 'weights'],
];

/** What upstream's message complains of; `unknown` for a message that is none of upstream's. */
export const upstreamFault = (message: string): PolicyFault => faultIn(upstream, message);
export const ourFault = (message: string): PolicyFault => faultIn(ours, message);

function faultIn(patterns: readonly (readonly [RegExp, PolicyFault])[], message: string): PolicyFault {
  return patterns.find(([pattern]) => pattern.test(message))?.[1] ?? 'unknown';
}

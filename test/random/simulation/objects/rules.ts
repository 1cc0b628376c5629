/** What must hold in every run, by name. */
export const rules = {
  'never older': 'no read gives a version older than one that a read of the same object has given while it was referenced',
  'real value': 'every value is one that the server has had under that version',
  registered: 'an object that a registered pod names is registered, and no other is',
  'no stray watch': 'no watch is open for an object that nobody refers to, and never two for one object',
  bounded: 'what is kept is what is referenced',
  'in time': 'every read ends',
  newest: 'in the end every referenced object is read with its newest value',
  silent: 'no value is logged',
  'nothing left': 'a stopped manager leaves no watch, no request and no timer',
} as const;

export type Rule = keyof typeof rules;

export interface Violation {
  readonly rule: Rule;
  readonly detail: string;
  readonly atMs: number;
}

import type { CelValue } from './values.ts';

interface Place {
  /** Where it begins in the text, counted from 0. */
  readonly at: number;
}

/** An expression of CEL after its macros have been expanded. */
export type CelExpression = Place &
  (
    | { readonly kind: 'literal'; readonly value: CelValue }
    | { readonly kind: 'ident'; readonly name: string }
    | { readonly kind: 'select'; readonly operand: CelExpression; readonly field: string; readonly testOnly: boolean }
    | CelCall
    | { readonly kind: 'list'; readonly elements: readonly CelListElement[] }
    | { readonly kind: 'map'; readonly entries: readonly CelMapEntry[] }
    | CelFold
  );

/** A call of a function or an operator; a method has a target. */
export interface CelCall extends Place {
  readonly kind: 'call';
  readonly name: string;
  readonly target?: CelExpression;
  readonly args: readonly CelExpression[];
}

export interface CelListElement {
  readonly value: CelExpression;
  readonly optional: boolean;
}

export interface CelMapEntry extends CelListElement {
  readonly key: CelExpression;
}

/** The one loop of CEL: all macros become it. */
export interface CelFold extends Place {
  readonly kind: 'fold';
  readonly range: CelExpression;
  readonly variable: string;
  readonly secondVariable?: string;
  readonly accumulator: string;
  readonly initial: CelExpression;
  readonly condition: CelExpression;
  readonly step: CelExpression;
  readonly result: CelExpression;
}

/** What makes an expression one that cannot be compiled, with its place in the text. */
export class CelCompileError extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.name = 'CelCompileError';
    this.at = at;
  }
}

/** The names that the language gives to its operators. */
export const operators = {
  conditional: '_?_:_',
  and: '_&&_',
  or: '_||_',
  not: '!_',
  negate: '-_',
  equals: '_==_',
  notEquals: '_!=_',
  add: '_+_',
  index: '_[_]',
  optionalIndex: '_[?_]',
  optionalSelect: '_?._',
  notStrictlyFalse: '@not_strictly_false',
  in: '@in',
} as const;

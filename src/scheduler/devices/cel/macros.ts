import { CelCompileError, type CelExpression, operators } from './syntax.ts';

/** The variable in which a loop collects; no text can name it. */
const accumulator = '@result';

type Macro = (target: CelExpression, args: readonly CelExpression[], at: number) => CelExpression | undefined;

const methods: Readonly<Record<string, Macro>> = {
  'all/2': (target, args, at) => all(target, [nameOf(args[0])], args[1], at),
  'all/3': (target, args, at) => all(target, twoNames(args), args[2], at),
  'exists/2': (target, args, at) => exists(target, [nameOf(args[0])], args[1], at),
  'exists/3': (target, args, at) => exists(target, twoNames(args), args[2], at),
  'exists_one/2': (target, args, at) => existsOne(target, [nameOf(args[0])], args[1], at),
  'exists_one/3': (target, args, at) => existsOne(target, twoNames(args), args[2], at),
  'existsOne/3': (target, args, at) => existsOne(target, twoNames(args), args[2], at),
  'map/2': (target, args, at) => collect(target, [nameOf(args[0])], undefined, args[1], at),
  'map/3': (target, args, at) => collect(target, [nameOf(args[0])], args[1], args[2], at),
  'filter/2': (target, args, at) => collect(target, [nameOf(args[0])], args[1], args[0], at),
  'transformList/3': (target, args, at) => collect(target, twoNames(args), undefined, args[2], at),
  'transformList/4': (target, args, at) => collect(target, twoNames(args), args[2], args[3], at),
  'transformMap/3': (target, args, at) => collectMap(target, twoNames(args), undefined, args[2], true, at),
  'transformMap/4': (target, args, at) => collectMap(target, twoNames(args), args[2], args[3], true, at),
  'transformMapEntry/3': (target, args, at) => collectMap(target, twoNames(args), undefined, args[2], false, at),
  'transformMapEntry/4': (target, args, at) => collectMap(target, twoNames(args), args[2], args[3], false, at),
  'bind/3': (target, args, at) =>
    target.kind === 'ident' && target.name === 'cel' ? bound(plainName(args[0]), args[1], args[2], at) : undefined,
  'optMap/2': (target, args, at) => optionalMap(target, args, at, true),
  'optFlatMap/2': (target, args, at) => optionalMap(target, args, at, false),
  'sortBy/2': sortBy,
};

/** What a call stands for, if it is a macro. Throws CelCompileError for a macro with arguments that it cannot take. */
export function expandedMacro(
  name: string,
  target: CelExpression | undefined,
  args: readonly CelExpression[],
  at: number,
): CelExpression | undefined {
  if (target !== undefined) {
    const key = `${name}/${args.length}`;
    return Object.hasOwn(methods, key) ? methods[key]?.(target, args, at) : undefined;
  }
  if (name !== 'has' || args.length !== 1) return undefined;
  const [operand] = args;
  if (operand?.kind !== 'select') throw new CelCompileError('has() takes a field, such as has(a.b)', at);
  return { ...operand, testOnly: true };
}

function all(target: CelExpression, names: Names, predicate: Argument, at: number): CelExpression {
  return fold(target, names, literal(true, at), call(operators.notStrictlyFalse, at, accu(at)), {
    step: call(operators.and, at, accu(at), given(predicate)),
    result: accu(at),
  });
}

function exists(target: CelExpression, names: Names, predicate: Argument, at: number): CelExpression {
  const condition = call(operators.notStrictlyFalse, at, call(operators.not, at, accu(at)));
  const step = call(operators.or, at, accu(at), given(predicate));
  return fold(target, names, literal(false, at), condition, { step, result: accu(at) });
}

function existsOne(target: CelExpression, names: Names, predicate: Argument, at: number): CelExpression {
  const more = call(operators.add, at, accu(at), literal(1n, at));
  return fold(target, names, literal(0n, at), literal(true, at), {
    step: call(operators.conditional, at, given(predicate), more, accu(at)),
    result: call(operators.equals, at, accu(at), literal(1n, at)),
  });
}

function collect(target: CelExpression, names: Names, filter: Argument, transform: Argument, at: number): CelExpression {
  const added = call(operators.add, at, accu(at), list(at, given(transform)));
  const step = filter === undefined ? added : call(operators.conditional, at, filter, added, accu(at));
  return fold(target, names, list(at), literal(true, at), { step, result: accu(at) });
}

function collectMap(
  target: CelExpression,
  names: Names,
  filter: Argument,
  transform: Argument,
  withKey: boolean,
  at: number,
): CelExpression {
  const key: CelExpression = { kind: 'ident', name: names[0], at };
  const added = call('cel.@mapInsert', at, accu(at), ...(withKey ? [key] : []), given(transform));
  const step = filter === undefined ? added : call(operators.conditional, at, filter, added, accu(at));
  return fold(target, names, { kind: 'map', entries: [], at }, literal(true, at), { step, result: accu(at) });
}

/** A name for a value: a loop over nothing, whose accumulator is the name. */
function bound(name: string, value: Argument, result: Argument, at: number): CelExpression {
  return {
    kind: 'fold',
    range: list(at),
    variable: '#unused',
    accumulator: name,
    initial: given(value),
    condition: literal(false, at),
    step: { kind: 'ident', name, at },
    result: given(result),
    at,
  };
}

function optionalMap(target: CelExpression, args: readonly CelExpression[], at: number, wrap: boolean): CelExpression {
  const value: CelExpression = { kind: 'call', name: 'value', target, args: [], at };
  const mapped = bound(plainName(args[0]), value, args[1], at);
  return call(
    operators.conditional,
    at,
    { kind: 'call', name: 'hasValue', target, args: [], at },
    wrap ? call('optional.of', at, mapped) : mapped,
    call('optional.none', at),
  );
}

function sortBy(target: CelExpression, args: readonly CelExpression[], at: number): CelExpression {
  if (target.kind === 'literal' || target.kind === 'map') throw new CelCompileError('sortBy() sorts lists alone', at);
  const name = '@__sortBy_input__';
  const input: CelExpression = { kind: 'ident', name, at };
  const keys = collect(input, [nameOf(args[0])], undefined, args[1], at);
  return bound(name, target, { kind: 'call', name: '@sortByAssociatedKeys', target: input, args: [keys], at }, at);
}

type Argument = CelExpression | undefined;
type Names = readonly [string, string?];

function fold(
  range: CelExpression,
  [variable, secondVariable]: Names,
  initial: CelExpression,
  condition: CelExpression,
  { step, result }: { step: CelExpression; result: CelExpression },
): CelExpression {
  const second = secondVariable === undefined ? {} : { secondVariable };
  return { kind: 'fold', range, variable, ...second, accumulator, initial, condition, step, result, at: range.at };
}

function twoNames(args: readonly CelExpression[]): Names {
  const first = nameOf(args[0]);
  const second = nameOf(args[1]);
  if (first === second) throw new CelCompileError(`the name ${first} is there twice`, args[1]?.at ?? 0);
  return [first, second];
}

function nameOf(argument: Argument): string {
  const name = plainName(argument);
  if (name === accumulator || name === '__result__')
    throw new CelCompileError(`${name} is no name for a variable`, given(argument).at);
  return name;
}

function plainName(argument: Argument): string {
  const expression = given(argument);
  if (expression.kind !== 'ident') throw new CelCompileError('a macro takes a plain name for its variable', expression.at);
  return expression.name;
}

function given(argument: Argument): CelExpression {
  if (argument === undefined) throw new TypeError('a macro without its argument');
  return argument;
}

function accu(at: number): CelExpression {
  return { kind: 'ident', name: accumulator, at };
}

function literal(value: boolean | bigint, at: number): CelExpression {
  return { kind: 'literal', value, at };
}

function list(at: number, ...elements: readonly CelExpression[]): CelExpression {
  return { kind: 'list', elements: elements.map((value) => ({ value, optional: false })), at };
}

function call(name: string, at: number, ...args: readonly CelExpression[]): CelExpression {
  return { kind: 'call', name, args, at };
}

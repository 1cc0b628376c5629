import { type CelToken, celTokens } from './lexer.ts';
import { expandedMacro } from './macros.ts';
import { CelCompileError, type CelExpression, type CelListElement, type CelMapEntry, operators } from './syntax.ts';
import { maxInt } from './values.ts';

const reserved = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(
    ' ',
  ),
);

/** How deep expressions may be nested, and how long a chain of operators, fields or calls may be. */
const deepest = 250;
const relations = new Set(['<', '<=', '>=', '>', '==', '!=', 'in']);

/** An expression of CEL with its macros expanded. Throws CelCompileError. */
export function parsedCel(source: string): CelExpression {
  return new CelParser(celTokens(source)).whole();
}

class CelParser {
  readonly #tokens: readonly CelToken[];
  #next = 0;
  #nesting = 0;
  /** How deep each expression is, where it is more than one step. */
  readonly #depths = new WeakMap<CelExpression, number>();

  constructor(tokens: readonly CelToken[]) {
    this.#tokens = tokens;
  }

  whole(): CelExpression {
    const expression = this.#expression();
    if (this.#token.kind !== 'end') throw this.#unexpected();
    return expression;
  }

  get #token(): CelToken {
    return this.#tokens[this.#next] as CelToken;
  }

  #is(text: string): boolean {
    return this.#token.kind === 'symbol' && this.#token.text === text;
  }

  #take(text: string): boolean {
    if (!this.#is(text)) return false;
    this.#next++;
    return true;
  }

  #expect(text: string): void {
    if (!this.#take(text)) throw this.#unexpected(text);
  }

  #unexpected(wanted?: string): CelCompileError {
    const { kind, text, at } = this.#token;
    const found = kind === 'end' ? 'the end' : JSON.stringify(text.slice(0, 40));
    return new CelCompileError(
      `found ${found} where ${wanted === undefined ? 'it makes no sense' : `"${wanted}" has to be`}`,
      at,
    );
  }

  #expression(): CelExpression {
    if (++this.#nesting > deepest) throw this.#tooDeep();
    const condition = this.#or();
    let expression = condition;
    if (this.#is('?')) {
      const { at } = this.#token;
      this.#next++;
      const then = this.#or();
      this.#expect(':');
      expression = this.#call(operators.conditional, at, [condition, then, this.#expression()]);
    }
    this.#nesting--;
    return expression;
  }

  #or(): CelExpression {
    return this.#chain('||', operators.or, () => this.#chain('&&', operators.and, () => this.#relation()));
  }

  #chain(sign: string, name: string, operand: () => CelExpression): CelExpression {
    const operands = [operand()];
    const { at } = this.#token;
    while (this.#take(sign)) operands.push(operand());
    if (operands.length === 1) return operands[0] as CelExpression;
    return this.#deep({ kind: 'call', name, args: operands, at }, operands, 0);
  }

  #relation(): CelExpression {
    let left = this.#sum();
    while (this.#token.kind === 'symbol' && relations.has(this.#token.text)) {
      const { text, at } = this.#token;
      this.#next++;
      left = this.#call(text === 'in' ? operators.in : `_${text}_`, at, [left, this.#sum()]);
    }
    return left;
  }

  #sum(): CelExpression {
    return this.#binary(['+', '-'], () => this.#binary(['*', '/', '%'], () => this.#unary()));
  }

  #binary(signs: readonly string[], operand: () => CelExpression): CelExpression {
    let left = operand();
    while (this.#token.kind === 'symbol' && signs.includes(this.#token.text)) {
      const { text, at } = this.#token;
      this.#next++;
      left = this.#call(`_${text}_`, at, [left, operand()]);
    }
    return left;
  }

  #unary(): CelExpression {
    const { text, at } = this.#token;
    const sign = this.#is('!') || this.#is('-') ? text : undefined;
    if (sign === undefined) return this.#member();
    let count = 0;
    while (this.#take(sign)) count++;
    const literal = sign === '-' && count === 1 ? this.#negative(at) : undefined;
    if (literal !== undefined) return literal;
    const operand = this.#member();
    if (count % 2 === 0) return operand;
    return this.#deep({ kind: 'call', name: sign === '!' ? operators.not : operators.negate, args: [operand], at }, [operand], 0);
  }

  /** A number with its sign, and what follows it: `-1` is one literal, so that the least integer can be written. */
  #negative(at: number): CelExpression | undefined {
    const token = this.#token;
    if (token.kind !== 'value') return undefined;
    if (typeof token.value !== 'bigint' && typeof token.value !== 'number') return undefined;
    this.#next++;
    return this.#suffixes({ kind: 'literal', value: -token.value, at });
  }

  #member(): CelExpression {
    const negative = this.#is('-') ? this.#minus() : undefined;
    return negative ?? this.#suffixes(this.#primary());
  }

  #minus(): CelExpression {
    const { at } = this.#token;
    this.#next++;
    const literal = this.#negative(at);
    if (literal === undefined) throw this.#unexpected('a number');
    return literal;
  }

  #suffixes(primary: CelExpression): CelExpression {
    let member = primary;
    for (;;) {
      const { at } = this.#token;
      if (this.#take('.')) member = this.#field(member, at);
      else if (this.#take('[')) member = this.#indexed(member, at);
      else return member;
    }
  }

  #field(operand: CelExpression, at: number): CelExpression {
    const optional = this.#take('?');
    const token = this.#token;
    if (token.kind !== 'word' && token.kind !== 'quotedWord') throw this.#unexpected('a name');
    this.#next++;
    if (!optional && token.kind === 'word' && this.#is('(')) {
      const open = this.#token.at;
      this.#next++;
      return this.#macroOrCall(token.text, operand, this.#list(')'), open);
    }
    // Names between back quotes are no part of the language of the device selectors.
    if (token.kind === 'quotedWord') throw new CelCompileError('names between back quotes are not supported', token.at);
    if (optional) {
      const field: CelExpression = { kind: 'literal', value: token.text, at: token.at };
      return this.#deep({ kind: 'call', name: operators.optionalSelect, args: [operand, field], at }, [operand], 0);
    }
    return this.#deep({ kind: 'select', operand, field: token.text, testOnly: false, at }, [operand], 1);
  }

  #indexed(operand: CelExpression, at: number): CelExpression {
    const name = this.#take('?') ? operators.optionalIndex : operators.index;
    const index = this.#expression();
    this.#expect(']');
    return this.#call(name, at, [operand, index]);
  }

  #primary(): CelExpression {
    const token = this.#token;
    if (token.kind === 'value') {
      this.#next++;
      if (typeof token.value === 'bigint' && token.value > maxInt) {
        throw new CelCompileError(`the number ${token.text} is too large`, token.at);
      }
      return { kind: 'literal', value: token.value, at: token.at };
    }
    if (this.#take('(')) {
      const inner = this.#expression();
      this.#expect(')');
      return inner;
    }
    if (this.#take('[')) return this.#listLiteral(token.at);
    if (this.#take('{')) return this.#mapLiteral(token.at);
    return this.#name(this.#take('.'));
  }

  #name(leadingDot: boolean): CelExpression {
    const token = this.#token;
    if (token.kind !== 'word') throw this.#unexpected();
    this.#next++;
    this.#refuseMessage(token.at);
    if (reserved.has(token.text))
      throw new CelCompileError(`${token.text} is a word that the language keeps for itself`, token.at);
    const open = this.#token.at;
    if (this.#take('(')) {
      const args = this.#list(')');
      return leadingDot ? this.#call(token.text, open, args) : this.#macroOrCall(token.text, undefined, args, open);
    }
    return { kind: 'ident', name: leadingDot ? `.${token.text}` : token.text, at: token.at };
  }

  /** `a.b.C{x: 1}` makes a message of protobuf. */
  #refuseMessage(at: number): void {
    let ahead = this.#next;
    const textAt = (place: number): string => this.#tokens[place]?.text ?? '';
    while (textAt(ahead) === '.' && this.#tokens[ahead + 1]?.kind === 'word') ahead += 2;
    if (textAt(ahead) === '{' && this.#tokens[ahead]?.kind === 'symbol') {
      throw new CelCompileError('messages of protobuf cannot be made in a device selector', at);
    }
  }

  #list(end: string): CelExpression[] {
    const items: CelExpression[] = [];
    if (this.#take(end)) return items;
    do items.push(this.#expression());
    while (this.#take(','));
    this.#expect(end);
    return items;
  }

  #listLiteral(at: number): CelExpression {
    const elements: CelListElement[] = [];
    while (!this.#is(']')) {
      if (elements.length === 0 && this.#take(',')) break;
      const optional = this.#take('?');
      elements.push({ optional, value: this.#expression() });
      if (!this.#take(',')) break;
    }
    this.#expect(']');
    const values = elements.map(({ value }) => value);
    return this.#deep({ kind: 'list', elements, at }, values, 0);
  }

  #mapLiteral(at: number): CelExpression {
    const entries: CelMapEntry[] = [];
    while (!this.#is('}')) {
      if (entries.length === 0 && this.#take(',')) break;
      const optional = this.#take('?');
      const key = this.#expression();
      this.#expect(':');
      entries.push({ optional, key, value: this.#expression() });
      if (!this.#take(',')) break;
    }
    this.#expect('}');
    const parts = entries.flatMap(({ key, value }) => [key, value]);
    return this.#deep({ kind: 'map', entries, at }, parts, 0);
  }

  #macroOrCall(name: string, target: CelExpression | undefined, args: readonly CelExpression[], at: number): CelExpression {
    const parts = target === undefined ? args : [target, ...args];
    const expanded = expandedMacro(name, target, args, at);
    if (expanded !== undefined) return this.#deep(expanded, parts, target === undefined ? 0 : 1);
    if (target === undefined) return this.#deep({ kind: 'call', name, args, at }, parts, 0);
    return this.#deep({ kind: 'call', name, target, args, at }, parts, 1);
  }

  #call(name: string, at: number, args: readonly CelExpression[]): CelExpression {
    return this.#deep({ kind: 'call', name, args, at }, args, 1);
  }

  #deep(expression: CelExpression, parts: readonly CelExpression[], more: number): CelExpression {
    const depth = more + parts.reduce((deepestPart, part) => Math.max(deepestPart, this.#depths.get(part) ?? 0), 0);
    if (depth > deepest) throw this.#tooDeep();
    this.#depths.set(expression, depth);
    return expression;
  }

  #tooDeep(): CelCompileError {
    return new CelCompileError(`it is nested more than ${deepest} times`, this.#token.at);
  }
}

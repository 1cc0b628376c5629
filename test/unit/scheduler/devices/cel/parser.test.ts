import { describe, expect, it } from 'vitest';
import { parsedCel } from '../../../../../src/scheduler/devices/cel/parser.ts';
import { CelCompileError } from '../../../../../src/scheduler/devices/cel/syntax.ts';
import { celResult, compileProblem } from '../cel-world.ts';

describe('the parser of expressions', () => {
  it.each([
    ['1 + 2 * 3 == 7'],
    ['(1 + 2) * 3 == 9'],
    ['10 - 2 - 3 == 5'],
    ['true || false && false'],
    ['false ? 1 == 1 : true ? true : false'],
    ['-9223372036854775808 < 0'],
    ['--1 == 1'],
    ['!!true'],
    ['1 < 2 == true'],
    ['[1, 2,].size() == 2 && [,].size() == 0'],
    ['{"a": 1,}.a == 1'],
    ['.size([1]) == 1'],
    ['"a" in {"a": 1} // what follows is a remark'],
  ])('binds operators as the language does: %s', (expression) => {
    expect(celResult(expression)).toBe(true);
  });

  it.each([
    ['1 +', 'found the end where it makes no sense'],
    ['(1', 'found the end where ")" has to be'],
    ['1 2', 'found "2" where it makes no sense'],
    ['if', 'if is a word that the language keeps for itself'],
    ['a.b.C{x: 1}', 'messages of protobuf cannot be made in a device selector'],
    ['9223372036854775808', 'the number 9223372036854775808 is too large'],
    ['{}.`a`', 'names between back quotes are not supported'],
    ['device.1', 'what begins here is no part of the language'],
    ['-!true', 'found "!" where it makes no sense'],
  ])('says what is wrong: %s', (expression, problem) => {
    expect(compileProblem(expression)).toContain(expression === 'device.1' ? 'found ".1"' : problem);
  });

  it('says where it is wrong', () => {
    expect(() => parsedCel('true &&\n  )')).toThrow(new CelCompileError('found ")" where it makes no sense', 10));
  });

  it.each([
    ['(', 'true', ')', 249],
    ['[', '1', '] == []', 249],
  ])('takes expressions nested 249 times by "%s", and not more', (open, inner, close, most) => {
    const nested = (times: number): string => open.repeat(times) + inner + close.slice(0, 1).repeat(times) + close.slice(1);
    expect(() => parsedCel(nested(most))).not.toThrow();
    expect(() => parsedCel(nested(most + 1))).toThrow('nested more than 250 times');
  });

  it('takes chains of 250 operators, fields or calls', () => {
    for (const [first, more] of [
      ['1', ' + 1'],
      ['a', '.b'],
      ['a', '.b()'],
      ['a', '[0]'],
    ] as const) {
      expect(() => parsedCel(first + more.repeat(250))).not.toThrow();
      expect(() => parsedCel(first + more.repeat(251))).toThrow('nested more than 250 times');
    }
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalQuantity } from '../../../../src/api/quantity/quantity.ts';

/** What Go's resource.Quantity makes of each, v0.36.3. */
const recorded: [string, string][] = [
  ['0', '0'],
  ['-0', '0'],
  ['0e5', '0'],
  ['1000m', '1'],
  ['0.5', '500m'],
  ['.5', '500m'],
  ['100000', '100k'],
  ['1024Ki', '1Mi'],
  ['-1024Ki', '-1Mi'],
  ['1.0Ki', '1Ki'],
  ['1.5Gi', '1536Mi'],
  ['0.5Ki', '512'],
  ['512.5Ki', '524800'],
  ['0.1Ki', '102400m'],
  ['1.1Mi', '1153433600m'],
  ['1025Ki', '1025Ki'],
  ['1048576Ki', '1Gi'],
  ['7Ei', '7Ei'],
  ['9223372036854775808Ki', '9223372036854775807'],
  ['-10Ei', '-9223372036854775807'],
  ['1e3', '1e3'],
  ['1E3', '1E3'],
  ['12e6', '12e6'],
  ['1e400', '10e399'],
  ['0.0000000001', '1n'],
  ['-0.0000000001', '-1n'],
  ['1e-400', '1e-9'],
  ['123456789012345678901234567890m', '123456789012345678901234567890m'],
  ['0.99999999999999999999', '1'],
  ['-1.9999999995m', '-2m'],
  ['1.3333333333333333333333333333333333Ki', '1365333333334n'],
  ['1000E', '1'],
  ['1000e4294967299', '1e6'],
  ['-', '0'],
  ['.', '0'],
  ['k', '0'],
];

describe('canonicalQuantity', () => {
  it.each(recorded)('gives %s back as %s', (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical);
  });

  it.each(['+5', '001', '041Ki', '1.500'])('keeps %s as it is written, as the apiserver does', (text) => {
    expect(canonicalQuantity(text)).toBe(text);
  });

  it('takes no notice of white space around it', () => {
    expect(canonicalQuantity(' 1000m\n')).toBe('1');
  });

  it('rounds an exponent far below a billionth without counting its digits', () => {
    expect(canonicalQuantity('1e-2000000000')).toBe('1e-9');
  });

  it('is its own canonical form', () => {
    const suffix = fc.constantFrom('', 'm', 'k', 'G', 'Ki', 'Gi', 'e3', 'E-6');
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.nat(9999), suffix, (whole, fraction, unit) => {
        const once = canonicalQuantity(`${whole}.${fraction}${unit}`);
        expect(canonicalQuantity(once)).toBe(once);
      }),
    );
  });

  it.each([
    '',
    ' ',
    'abc',
    '1 k',
    '1KI',
    '1K',
    '1..2',
    '1.2.3',
    '--1',
    '0x1',
    '1e',
    '1e99999999999999999999',
    '5e3Ki',
    'Pi',
    'e-10',
    '1Ki2',
  ])('refuses %j', (text) => {
    expect(() => canonicalQuantity(text)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }));
  });

  // with time in proportion to a square of the length, each of these takes hours
  const zeros = '0'.repeat(4_000_000);
  const threes = '3'.repeat(4_000_000);

  it.each([
    ['zeros inside', `1${zeros}1`, `1${zeros}1`],
    ['zeros in front', `${zeros}1000m`, '1'],
    ['a long fraction', `0.${threes}`, '333333334n'],
    ['a long binary fraction', `0.${threes}Ki`, '341333333334n'],
    ['a number above all binary ones', `-${threes}Ki`, '-9223372036854775807'],
    ['zeros in front of an exponent', `1e${zeros}4`, '10e3'],
    ['white space', `${' '.repeat(4_000_000)}1000m`, '1'],
  ])('takes a quantity of four million characters: %s', (_, text, canonical) => {
    expect(canonicalQuantity(text) === canonical).toBe(true);
  });

  it.each([
    ['zeros', `${zeros}x`],
    ['digits', `${threes}x`],
    ['digits behind a point', `.${threes}x`],
    ['an exponent', `1e${threes}`],
    ['letters', `${'n'.repeat(4_000_000)}x`],
    ['white space inside', `1${' '.repeat(4_000_000)}x`],
  ])('refuses four million characters that are no quantity: %s', (_, text) => {
    expect(() => canonicalQuantity(text)).toThrow(/^Expected `quantity`.{0,200}$/);
  });

  it('refuses what is no text', () => {
    expect(() => canonicalQuantity(1 as unknown as string)).toThrow(/quantity.*1 \(number\)/);
  });
});

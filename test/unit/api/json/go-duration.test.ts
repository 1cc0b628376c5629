import { describe, expect, it } from 'vitest';
import { goTimeText, parseGoTime } from '../../../../src/api/json/go-duration.ts';

describe('a time as Go writes it', () => {
  it.each([
    ['0', '0s'],
    ['+0s', '0s'],
    ['15s', '15s'],
    ['90s', '1m30s'],
    ['1h', '1h0m0s'],
    ['1h1m1.5s', '1h1m1.5s'],
    ['.5s', '500ms'],
    ['1.s', '1s'],
    ['1500us', '1.5ms'],
    ['2µs', '2µs'],
    ['7ns', '7ns'],
    ['-1.25s', '-1.25s'],
    ['1000h', '1000h0m0s'],
    ['0.0000000001s', '0s'],
    ['9223372036854775807ns', '2562047h47m16.854775807s'],
  ])('%s is %s', (text, written) => {
    expect(goTimeText(parseGoTime(text) as bigint)).toBe(written);
  });

  it.each(['', '1', 's', '1x', '1s ', '1 s', '--1s', '1m-1s', '9223372036854775808ns', '1e3s'])('%j is none', (text) => {
    expect(parseGoTime(text)).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { probeHeaders, redirected, requestPath } from '../../../../src/node/probes/http-probe.ts';

describe('requestPath', () => {
  it.each([
    ['', '/'],
    ['/', '/'],
    ['healthz', '/healthz'],
    ['/healthz?a=b&c=d?e', '/healthz?a=b&c=d?e'],
    ['/healthz#part', '/healthz'],
    ['/a b', '/a%20b'],
    ['/a%20b', '/a%20b'],
    ['/50%', '/50%25'],
    ['/50%?a#b', '/50%25%3Fa%23b'],
    ['/é', '/%C3%A9'],
    ['/a/../b', '/a/../b'],
    ['//other.example/x', '/x'],
    ['http://other.example:81/x?y', '/x?y'],
    ['/x\r\nHost: other', '/x%0D%0AHost:%20other'],
    ['/q?50%', '/q?50%'],
    ['/q?é ', '/q?%C3%A9%20'],
    ['/a[b]', '/a[b]'],
    ['/a\\b"|', '/a%5Cb%22%7C'],
    ['?x=1', '/?x=1'],
    ['/\ud800', '/%EF%BF%BD'],
  ])('%j -> %s', (path, expected) => {
    expect(requestPath(path)).toBe(expected);
  });
});

describe('redirected', () => {
  const from = { scheme: 'http', host: '10.0.0.1', port: 8080, path: '/a/b' };

  it.each([
    ['/c', { ...from, path: '/c' }],
    ['c?d', { ...from, path: '/a/c?d' }],
    ['http://10.0.0.1:81/x', { ...from, port: 81, path: '/x' }],
    ['https://10.0.0.1/x', { ...from, scheme: 'https', port: 443, path: '/x' }],
    ['http://10.0.0.2:8080/x', 'other-host'],
    ['//other.example/x', 'other-host'],
    ['http://[', undefined],
  ])('%j -> %j', (location, expected) => {
    expect(redirected(from, location)).toEqual(expected);
  });
});

describe('the headers of a probe', () => {
  it('of one name are put together without a copy for each', () => {
    const given = Array.from({ length: 5000 }, (_, index) => ({ name: 'X', value: String(index) }));
    const values = Array.prototype[Symbol.iterator];
    let copies = 0;
    Object.defineProperty(Array.prototype, Symbol.iterator, {
      configurable: true,
      writable: true,
      value(this: unknown[]) {
        copies += 1;
        return values.call(this);
      },
    });
    const { headers } = probeHeaders(given);
    Object.defineProperty(Array.prototype, Symbol.iterator, { configurable: true, writable: true, value: values });
    expect(headers.x).toHaveLength(5000);
    expect(copies).toBeLessThan(100);
  });
});

import { describe, expect, it } from 'vitest';
import { decodeStaticPods, InvalidManifestError } from '../../../../src/node.ts';

const origin = { source: '/etc/manifests/web.yaml', isFile: true, nodeName: 'node-1' };
const pod = 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n  - name: app\n    image: app:1\n';
const json = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"app","image":"app:1"}]}}';
/** Texts of a mebibyte, each of which an expression that tries every way through it would not get to the end of. */
const mebibyte = 2 ** 20;
const long = (text: string): string => text.repeat(mebibyte / text.length);
const bomb = [
  'a: &a [x,x,x,x,x,x,x,x,x]',
  ...Array.from('bcdefghi', (name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[i]}`)}]`),
];

function fieldOf(fieldPath: string): string {
  return JSON.stringify({ name: 'A', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } });
}

function outcome(text: string): string {
  try {
    return `taken as ${decodeStaticPods(text, origin)[0]?.metadata?.name}`;
  } catch (error) {
    if (error instanceof InvalidManifestError) return 'refused';
    throw error;
  }
}

describe('a hostile manifest', () => {
  it.each([
    ['carriage returns', pod.replaceAll('\n', '\r\n')],
    ['a byte order mark', `\uFEFF${pod}`],
    ['a licence in front of it, Windows line ends, and a second document', `${long('# a licence\r\n')}${pod}---\r\nmore: 1\r\n`],
    ['a byte order mark and a directive', `\uFEFF%YAML 1.1 # x\n---\n${pod}`],
    ['a second document of anything', `${pod}---\n{[`],
    ['unknown fields that look like JavaScript', `${pod}__proto__: {kind: x}\nconstructor: 5\n`],
    ['an unknown number beyond all types', json.replace('"spec"', '"x":1e999,"spec"')],
    ['base64 of nine mebibytes', `${pod}x: !!binary ${'AAAA'.repeat(9 * 2 ** 18)}\n`],
    ['a replaced byte that was no UTF-8', pod.replace('app:1', '"app\uFFFD"')],
  ])('is read in spite of %s', (_what, text) => {
    expect(outcome(text)).toBe('taken as web-node-1');
  });

  it.each([
    ['aliases that grow', `${pod}${bomb.join('\n')}\n`],
    ['an alias to itself', `${pod}x: &x [*x]\n`],
    ['deep YAML', `${pod}x: ${'['.repeat(5000)}${']'.repeat(5000)}\n`],
    ['deep JSON', `{"x":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`],
    ['a directive behind a byte order mark', `\uFEFF%YAML 1.2\n---\n${pod}`],
    ['a long directive of a tag', `%TAG ${long(' ')}x\n---\n${pod}`],
    ['a field of one of many labels', json.replace('"image"', `"env":[${fieldOf(long("['"))}],"image"`)],
    ['base64 that ends in the middle', `${pod}x: !!binary AAAAA===\n`],
    ['too much text', `${pod}# ${'x'.repeat(10 * 2 ** 20)}`],
    ['a NUL', pod.replace('app:1', 'app\0')],
    ['a bell in a comment', `${pod}# \x07\n`],
    ['a line end that only YAML 1.1 knows', `${pod}# x\u2028hostNetwork: true\n`],
    ['a tab for indentation', pod.replace('  name: web', '\tname: web')],
    ['half a character', pod.replace('app:1', '"\\ud800"')],
    ['a label called __proto__', pod.replace('name: web', 'name: web\n  labels: {__proto__: x}')],
    ['a resource called constructor', `${pod}    resources: {limits: {constructor: 1}}\n`],
    ['a number beyond 53 bits', `${pod}  terminationGracePeriodSeconds: 9007199254740993\n`],
    ['a number beyond 64 bits', `${pod}  terminationGracePeriodSeconds: 99999999999999999999\n`],
    ['a quantity of many digits', `${pod}    resources: {limits: {cpu: "1e999999999"}}\n`],
    ['a long quantity', `${pod}    resources: {limits: {cpu: "${'1'.repeat(100_000)}"}}\n`],
    ['a date for a name', pod.replace('name: web', 'name: {2020-01-01: 2020-01-01}')],
    ['a name that is a switch', pod.replace('name: web', 'name: yes')],
    ['half a manifest', pod.slice(0, 60)],
    ['half of JSON', json.slice(0, 60)],
  ])('is refused for %s', (_what, text) => {
    expect(outcome(text)).toBe('refused');
  });

  it('is refused at any length that a write was cut at, or is the whole pod', () => {
    const outcomes = Array.from({ length: json.length }, (_, length) => outcome(json.slice(0, length)));
    expect(new Set(outcomes)).toEqual(new Set(['refused']));
  });

  it('changes no prototype', () => {
    outcome(json.replace('"name":"web"', '"name":"web","__proto__":{"polluted":1},"annotations":{"__proto__":"x"}'));
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

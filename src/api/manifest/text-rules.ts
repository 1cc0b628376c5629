// Rules for names and other texts. Behaviour of k8s.io/apimachinery/pkg/util/validation and pkg/api/validate/content, v0.36.3.
import { isIP } from 'node:net';
import { isDnsLabel, isDnsSubdomain, isLabelKey, isLabelValue } from '../../base/names.ts';
import { check, refuse } from './invalid-manifest.ts';

const labelWithUnderscore = /^_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const mappedIPv4 = /^\[::ffff:[0-9a-f]+:[0-9a-f]+\]$/;

export function checkDnsLabel(path: string, text: string): void {
  check(isDnsLabel(text), path, 'at most 63 lower case letters, digits and hyphens, with no hyphen at either end', text);
}

export function checkDnsSubdomain(path: string, text: string): void {
  check(isDnsSubdomain(text), path, 'a DNS subdomain: lower case letters, digits, hyphens and dots', text);
}

export function checkSearchPath(path: string, text: string): void {
  const bare = text.replace(/\.$/, '');
  const holds = text === '.' || (bare.length <= 253 && bare.split('.').every((part) => labelWithUnderscore.test(part)));
  check(holds, path, 'a DNS subdomain, or a single dot', text);
}

export function checkQualifiedName(path: string, text: string): void {
  check(isLabelKey(text), path, 'a name of at most 63 letters, digits, "-", "_" and ".", with or without a prefix', text);
}

export function checkLabelValue(path: string, text: string): void {
  check(isLabelValue(text), path, 'empty, or at most 63 letters, digits, "-", "_" and "."', text);
}

export function checkLabels(path: string, labels: { readonly [key: string]: string } | undefined): void {
  for (const [key, value] of Object.entries(labels ?? {})) {
    checkQualifiedName(`the key ${path}[${key}]`, key);
    checkLabelValue(`${path}[${key}]`, value);
  }
}

export function checkPresent(path: string, value: unknown): void {
  check(value !== undefined && value !== '' && value !== 0, path, 'given', value);
}

export function checkOneOf(path: string, value: string | undefined, allowed: readonly string[]): void {
  check(
    value !== undefined && allowed.includes(value),
    path,
    `one of ${allowed.map((item) => JSON.stringify(item)).join(', ')}`,
    value,
  );
}

export function checkOptionalOneOf(path: string, value: string | undefined, allowed: readonly string[]): void {
  if (value !== undefined) checkOneOf(path, value, allowed);
}

export function checkRange(path: string, value: number | undefined, min: number, max: number): void {
  if (value !== undefined) check(value >= min && value <= max, path, `from ${min} to ${max}`, value);
}

/** An IP address without leading zeros; IPv4 in the form of IPv6 is refused, as programs read it differently. */
export function checkIP(path: string, text: string): void {
  const rule = 'an IP address, such as 10.9.8.7 or 2001:db8::ffff';
  const version = text.includes('%') ? 0 : isIP(text);
  check(version !== 0, path, rule, text);
  if (version === 6 && mappedIPv4.test(new URL(`http://[${text}]`).hostname))
    refuse(path, 'no IPv4 address in the form of IPv6', text);
}

/** White space as Go has it: a byte order mark is none. */
export function checkNotPadded(path: string, text: string): void {
  const padded = /^(?!\uFEFF)[\s\x85]|(?!\uFEFF)[\s\x85]$/.test(text);
  check(!padded, path, 'without white space at its ends', text);
}

/** A path without an element `..`. */
export function checkNoBacksteps(path: string, text: string): void {
  check(!text.split('/').includes('..'), path, 'a path without ".."', text);
}

/** A path that leads nowhere but below where it begins. */
export function checkDescendingPath(path: string, text: string): void {
  check(!text.startsWith('/'), path, 'a relative path', text);
  checkNoBacksteps(path, text);
}

/** A path of a file in a volume: names that begin with ".." are the volume's own. */
export function checkFilePath(path: string, text: string | undefined): void {
  checkPresent(path, text);
  checkDescendingPath(path, text ?? '');
  check(!text?.startsWith('..'), path, 'a path that does not begin with ".."', text);
}

export function checkFileMode(path: string, mode: number | undefined): void {
  checkRange(path, mode, 0, 0o777);
}

/** A name of an environment variable. */
export function checkEnvName(path: string, text: string): void {
  check(/^[ -<>-~]+$/.test(text), path, 'printable ASCII characters other than "="', text);
}

export function checkPort(path: string, port: number): void {
  check(port >= 1 && port <= 65_535, path, 'from 1 to 65535', port);
}

function isPortName(text: string): boolean {
  return /^[-a-z0-9]{1,15}$/.test(text) && /[a-z]/.test(text) && !/^-|--|-$/.test(text);
}

const portNameRule = 'at most 15 lower case letters, digits and single hyphens, with a letter';

export function checkPortName(path: string, text: string): void {
  check(isPortName(text), path, portNameRule, text);
}

export function checkPortOrName(path: string, port: number | string): void {
  if (typeof port === 'string') checkPortName(path, port);
  else checkPort(path, port);
}

/** User and group ids. */
export function checkId(path: string, id: number | undefined): void {
  checkRange(path, id, 0, 2 ** 31 - 1);
}

/** Refuses a name that occurs before. */
export function checkUnique(path: string, seen: Set<string>, name: string): void {
  check(!seen.has(name), path, 'unique', name);
  seen.add(name);
}

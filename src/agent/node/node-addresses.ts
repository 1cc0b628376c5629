import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { callGuarded, ignoreFailure } from '../../seams/guard.ts';

/** The addresses of a node: those that are given, or else the machine's, that of the default route before all others. */
export function nodeIPsOf(nodeName: string, given: readonly string[]): readonly string[] {
  if (given.length > 0) return given;
  if (isIP(nodeName) !== 0) return [nodeName];
  const interfaces = networkInterfaces();
  const routed = defaultInterface(callGuarded(() => readFileSync('/proc/net/route', 'utf8'), ignoreFailure) ?? '');
  const candidates = [interfaces[routed ?? ''], ...Object.values(interfaces)].flatMap((addresses) => addresses ?? []);
  const usable = candidates.filter(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  const first = usable.find(({ family }) => family === 'IPv4') ?? usable[0];
  return first === undefined ? [] : [first.address];
}

/** The interface of the default route in `/proc/net/route`; undefined where there is none. */
function defaultInterface(routes: string): string | undefined {
  const lines = routes.split('\n').map((line) => line.split('\t'));
  return lines.find(
    ([, destination, , flags]) => destination === '00000000' && (Number.parseInt(flags ?? '', 16) & 1) === 1,
  )?.[0];
}

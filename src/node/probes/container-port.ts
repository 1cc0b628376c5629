import type { Container } from '../../api/pod/pod-containers.ts';

/** Longer than any number of 64 bits, zeros in front of it aside. */
const tooLong = 20;
const smallest = -(2n ** 63n);
const largest = 2n ** 63n - 1n;

/**
 * The number of a port that is given by number, or by the name that the container gives to it. Throws an error in
 * upstream's words for a port that is none. Behaviour of pkg/probe ResolveContainerPort, v1.36.3.
 */
export function containerPort(port: unknown, container: Container): number {
  const number = typeof port === 'number' ? port : portByName(String(port), container);
  if (Number.isInteger(number) && number > 0 && number < 65_536) return number;
  throw new Error(`invalid port number: ${number}`);
}

function portByName(name: string, container: Container): number {
  const found = container.ports?.find((port) => port.name === name);
  if (found !== undefined) return found.containerPort;
  if (!/^[+-]?\d+$/.test(name)) throw new Error(`strconv.Atoi: parsing ${JSON.stringify(name)}: invalid syntax`);
  const digits = name.replace(/^[+-]?0*/, '');
  const size = digits.length < tooLong ? BigInt(digits) : largest + 2n;
  const value = name.startsWith('-') ? -size : size;
  if (value < smallest || value > largest) throw new Error(`strconv.Atoi: parsing ${JSON.stringify(name)}: value out of range`);
  return Number(value);
}

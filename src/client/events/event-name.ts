import { randomUUID } from 'node:crypto';
import { isDnsSubdomain } from '../../base/names.ts';

/** The name of a new event, as client-go makes it: that of its object with a number which nothing else has, or a random one where that would be no name. */
export function eventName(objectName: string, number: bigint): string {
  const name = `${objectName}.${number.toString(16)}`;
  return isDnsSubdomain(name) ? name : randomUUID();
}

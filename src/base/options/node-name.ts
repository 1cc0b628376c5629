import { invalidOption } from '../errors.ts';
import { isDnsSubdomain } from './dns-names.ts';

/** Checks the option `nodeName`. Throws ERR_INVALID_OPTION for anything that is no name of a node. */
export function nodeNameOption(value: unknown): string {
  if (typeof value === 'string' && isDnsSubdomain(value)) return value;
  throw invalidOption('nodeName', 'the name of a node', value);
}

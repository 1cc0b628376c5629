import { invalidOption } from '../errors.ts';

/** A DNS subdomain: labels of letters, digits and hyphens, between dots. */
const nodeNameRule = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/** Checks the option `nodeName`. Throws ERR_INVALID_OPTION for anything that is no name of a node. */
export function nodeNameOption(value: unknown): string {
  if (typeof value === 'string' && nodeNameRule.test(value)) return value;
  throw invalidOption('nodeName', 'the name of a node', value);
}

import { StatusManagerError, shownValue } from '../../errors.ts';

/** What is wrong in a manifest, where, before it is known which manifest that is. */
export class ManifestFault extends Error {
  /** Where it stands, such as `spec.containers[0].image`; empty for the manifest as a whole. */
  readonly path: string;

  constructor(path: string, rule: string, value: unknown, options?: ErrorOptions) {
    super(`Expected ${path === '' ? 'the manifest' : `\`${path}\``} to be ${rule}, got ${shownValue(value)}`, options);
    this.path = path;
  }
}

/** Refuses the manifest: expected `path` to be RULE. */
export function refuse(path: string, rule: string, value: unknown): never {
  throw new ManifestFault(path, rule, value);
}

/** Refuses the manifest unless `holds`. */
export function check(holds: boolean, path: string, rule: string, value: unknown): void {
  if (!holds) refuse(path, rule, value);
}

/**
 * A manifest that is no static pod (ERR_INVALID_MANIFEST). Its message names the source, the field, the rule, and the value with its type.
 *
 * @example
 * ```ts
 * import { decodeStaticPods, InvalidManifestError } from 'pod-status-manager/node';
 *
 * try {
 *   decodeStaticPods('kind: Pod', { source: '/etc/pods/web.yaml', isFile: true, nodeName: 'node-1' });
 * } catch (error) {
 *   if (error instanceof InvalidManifestError) console.log(error.path, error.parsed); // apiVersion false
 * }
 * ```
 */
export class InvalidManifestError extends StatusManagerError {
  /** The path or the URL that the manifest came from. */
  readonly source: string;
  /** The field that breaks a rule, such as `spec.containers[0].image`; empty for the manifest as a whole. */
  readonly path: string;
  /** True where the text was a pod (or a list of pods), but one that may not run; false where it was none. */
  readonly parsed: boolean;

  constructor(source: string, parsed: boolean, fault: ManifestFault) {
    super('ERR_INVALID_MANIFEST', `${source}: ${fault.message}`, { cause: fault.cause });
    this.source = source;
    this.path = fault.path;
    this.parsed = parsed;
  }
}

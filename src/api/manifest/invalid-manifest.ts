import { StatusManagerError, shownValue } from '../../base/errors.ts';

/** Values that the author of a manifest writes freely: a secret may stand there. */
const freeValues =
  /^metadata\.annotations|\.(?:env\[\d+\]\.(?:name|value)|command|args|httpHeaders\[\d+\]\.value|sysctls\[\d+\]\.value|options|volumeAttributes|gmsaCredentialSpec)(?:[.[]|$)/;

/**
 * What is wrong in a manifest, where, before it is known which manifest that is. Its message goes to logs, so it quotes no text
 * of the manifest as a whole, and no value that is free.
 */
export class ManifestFault extends Error {
  /** Where it stands, such as `spec.containers[0].image`; empty for the manifest as a whole. */
  readonly path: string;

  constructor(path: string, rule: string, value: unknown, options?: ErrorOptions) {
    const place = path === '' ? 'the manifest' : `\`${path}\``;
    const got = value instanceof TypeOnly || path === '' || freeValues.test(path) ? typeOf(value) : shownValue(value);
    super(`Expected ${place} to be ${rule}, got ${got}`, options);
    this.name = 'ManifestFault';
    this.path = path;
  }
}

/** Stands for a value of which a message names the type alone. */
class TypeOnly {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** The type in words, such as "a string". */
function typeOf(value: unknown): string {
  if (value instanceof TypeOnly) return typeOf(value.value);
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Refuses a value of the wrong type. The message names its type alone: what stands in a wrong place may be anything. */
export function refuseType(path: string, rule: string, value: unknown): never {
  throw new ManifestFault(path, rule, new TypeOnly(value));
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
    this.name = 'InvalidManifestError';
    this.source = source;
    this.path = fault.path;
    this.parsed = parsed;
  }
}

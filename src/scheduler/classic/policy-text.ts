import { ManifestFault } from '../../api/manifest/invalid-manifest.ts';
import { type ManifestValue, NumberText, readManifest } from '../../api/manifest/read-manifest.ts';
import { StatusManagerError } from '../../base/errors.ts';

/** Reads a policy file's text, JSON or YAML, into plain values. Throws ERR_INVALID_OPTION for a text that is neither. */
export function readPolicyText(text: string): unknown {
  try {
    return plain(readManifest(text));
  } catch (cause) {
    if (!(cause instanceof ManifestFault)) throw cause;
    const says = cause.message.replace('the manifest', '`policy`');
    throw new StatusManagerError('ERR_INVALID_OPTION', says, { cause });
  }
}

function plain(value: ManifestValue): unknown {
  if (value instanceof NumberText) return Number(value.text);
  if (Array.isArray(value)) return value.map(plain);
  return value instanceof Map ? Object.fromEntries([...value].map(([key, member]) => [key, plain(member)])) : value;
}

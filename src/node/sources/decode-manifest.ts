import type { Pod } from '../../api/json/types.ts';
import type { ManifestOrigin } from '../../api/manifest/static-pods.ts';

/** The pods of one manifest, defaulted and checked. Throws for a manifest that is none, or that breaks a rule. */
export type DecodeManifest = (text: string, origin: ManifestOrigin) => readonly Pod[];

/** The longest manifest, in bytes, unless the options say another one. */
export const longestManifest = 10 * 1024 * 1024;

/** The text of a manifest. Throws for bytes that are no UTF-8. */
export function manifestText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

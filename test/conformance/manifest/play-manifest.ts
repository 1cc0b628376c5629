import { InvalidManifestError } from '../../../src/api/manifest/invalid-manifest.ts';
import { decodeStaticPods } from '../../../src/api/manifest/static-pods.ts';
import type { ManifestCase, ManifestOutcome } from './manifest-case.ts';

/** Reads the manifest with our decoder. */
export function playManifest({ manifest, list = false, source, isFile, nodeName }: ManifestCase): ManifestOutcome {
  try {
    const pods = decodeStaticPods(manifest, { source, isFile, nodeName });
    const [pod] = pods;
    return list || pod === undefined ? { parsed: true, pods } : { parsed: true, pod };
  } catch (error) {
    if (!(error instanceof InvalidManifestError)) throw error;
    return { parsed: error.parsed, error: error.message };
  }
}

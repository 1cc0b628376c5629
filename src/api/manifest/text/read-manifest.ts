// Behaviour of k8s.io/apimachinery/pkg/util/yaml ToJSON, v0.36.3.
import { ManifestFault } from './invalid-manifest.ts';
import type { ManifestValue } from './manifest-value.ts';
import { readJson } from './read-json.ts';
import { readYaml } from './read-yaml.ts';

/** The longest manifest that is read, in UTF-16 units: pkg/kubelet/config reads 10 MiB. */
const longestManifest = 10 * 2 ** 20;

/** Reads a manifest: JSON where it begins with a brace, and the first document of YAML otherwise. Throws a fault for what is neither. */
export function readManifest(text: string): ManifestValue {
  if (text.length > longestManifest)
    throw new ManifestFault('', `at most ${longestManifest} characters long (it has ${text.length})`, text);
  try {
    return /^\s*\{/.test(text.slice(0, 10_000)) && !text.startsWith('\uFEFF') ? readJson(text) : readYaml(text);
  } catch (cause) {
    if (cause instanceof ManifestFault) throw cause;
    throw new ManifestFault('', `a text that can be read (${(cause as Error).message})`, text, { cause });
  }
}

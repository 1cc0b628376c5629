import type { WirePod } from '../../../src/index.ts';
import type { KindCase } from '../kinds/case-kind.ts';

/** What became of a manifest. */
export interface ManifestOutcome {
  /** It was a pod at all, or a list of pods. */
  readonly parsed: boolean;
  readonly pod?: WirePod;
  /** Null where there is none. */
  readonly pods?: readonly WirePod[] | null;
  /** Why it was refused, in upstream's words or in ours. */
  readonly error?: string;
  /** Uids that upstream made by hashing; ours are others. */
  readonly generatedUIDs?: readonly string[];
}

/** A recording of how the kubelet reads one manifest. */
export interface ManifestCase extends KindCase {
  readonly manifest: string;
  /** Read as a list of pods. */
  readonly list?: boolean;
  readonly source: string;
  readonly isFile: boolean;
  readonly nodeName: string;
  readonly out: ManifestOutcome;
}

/** What is wrong with the case; undefined when it can be played. */
export function manifestCaseProblem(value: unknown): string | undefined {
  const { manifest, source, isFile, nodeName, out } = value as Partial<ManifestCase>;
  if (typeof manifest !== 'string') return 'a manifest case without a manifest';
  if (typeof source !== 'string') return 'a manifest case without a source';
  if (typeof isFile !== 'boolean') return 'a manifest case that does not say whether it is a file';
  if (typeof nodeName !== 'string') return 'a manifest case without a node name';
  if (typeof out?.parsed !== 'boolean') return 'a manifest case without an outcome';
  return undefined;
}

import { isDeepStrictEqual } from 'node:util';
import type { WirePod } from '../../../src/index.ts';
import type { ManifestCase, ManifestOutcome } from './manifest-case.ts';

const hashKey = 'kubernetes.io/config.hash';

/** What differs between the recording and our outcome. Of an error only its presence counts. There is no exemption. */
export function judgeManifest({ out }: ManifestCase, ours: ManifestOutcome): string[] {
  const differences: string[] = [];
  const expect = (what: string, told: unknown, got: unknown) => {
    if (!isDeepStrictEqual(told, got)) differences.push(`${what}: expected ${JSON.stringify(told)}, got ${JSON.stringify(got)}`);
  };
  expect('parsed', out.parsed, ours.parsed);
  expect('refused', out.error !== undefined, ours.error !== undefined);
  const extra = Object.keys(out).filter((key) => !['parsed', 'pod', 'pods', 'error', 'generatedUIDs'].includes(key));
  expect('members', [], extra);
  if (differences.length > 0) return [...differences, `upstream: ${out.error}`, `ours: ${ours.error}`];
  const [told, got] = [podsOf(out), podsOf(ours)];
  expect('how many pods', told.length, got.length);
  const generated = new Set(out.generatedUIDs);
  const found = new Set<string>();
  for (const [index, pod] of told.entries()) {
    const uid = pod.metadata?.uid ?? '';
    const isGenerated = generated.has(uid);
    if (isGenerated) found.add(uid);
    const mine = got[index];
    if (isGenerated) expect(`pod ${index}, uid`, true, /^[0-9a-f]{32}$/.test(mine?.metadata?.uid ?? ''));
    expect(`pod ${index}`, comparable(pod, isGenerated), comparable(mine, isGenerated));
  }
  expect('generated uids', [...generated].sort(), [...found].sort());
  return differences;
}

function podsOf({ pod, pods }: ManifestOutcome): readonly WirePod[] {
  return [...(pod === undefined ? [] : [pod]), ...(pods ?? [])];
}

/** The pod without what counts as absent. A generated uid is compared with the annotation that repeats it, and is not looked at further. */
function comparable(pod: WirePod | undefined, isGenerated: boolean): unknown {
  if (pod === undefined || !isGenerated) return withoutAbsent(pod);
  const { uid, ...metadata } = pod.metadata ?? {};
  const hash = metadata.annotations?.[hashKey] === uid ? 'the uid' : 'another';
  return withoutAbsent({ ...pod, metadata: { ...metadata, annotations: { ...metadata.annotations, [hashKey]: hash } } });
}

/** An absent list or map is an empty one, and null is an absent time. */
function withoutAbsent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAbsent);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== null && !(Array.isArray(inner) && inner.length === 0));
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutAbsent(inner)]));
}

import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { agrees, runKind } from '../kinds/run-kind.ts';
import { leastShare, liesOfACase, tellLies } from '../kinds/tell-lies.ts';
import { readCases } from '../replay/read-cases.ts';
import { falsifyManifest } from './falsify-manifest.ts';
import { judgeManifest } from './judge-manifest.ts';
import { type ManifestCase, manifestCaseProblem } from './manifest-case.ts';
import { manifestKind } from './manifest-kind.ts';
import { playManifest } from './play-manifest.ts';

function casesOf(name: string): readonly ManifestCase[] {
  const file = fileURLToPath(new URL(`../${name}.jsonl.gz`, import.meta.url));
  return (readCases(file).byKind.get('manifest') ?? []) as readonly ManifestCase[];
}

describe('replay of how the kubelet reads manifests', () => {
  it.each([
    ['manifest-public', 997],
    // hostile values for every field, and corners of YAML: at least one manifest for each rule
    ['manifest-more', 3719],
  ])('finds no difference in %s, and excuses nothing', async (name, count) => {
    const result = await runKind('manifest', manifestKind, casesOf(name));
    expect(result).toMatchObject({ cases: count, differences: [], exemptCases: 0 });
    expect(agrees(result)).toBe(true);
  });

  it('finds a recording that is falsified in one place', async () => {
    const { told, shareFound, missed } = await tellLies(casesOf('manifest-public'), {
      play: playManifest,
      falsify: falsifyManifest,
      judge: judgeManifest,
    });
    expect(told).toBe(997 * liesOfACase);
    expect(shareFound, missed.slice(0, 20).join('; ')).toBeGreaterThanOrEqual(leastShare);
  });
});

describe('a line of kind manifest', () => {
  const whole = { manifest: '', source: 's', isFile: true, nodeName: 'n', out: { parsed: false } };

  it('is taken when it is whole', () => {
    expect(manifestCaseProblem(whole)).toBeUndefined();
  });

  it.each([
    [{ manifest: 1 }, 'a manifest case without a manifest'],
    [{ source: 1 }, 'a manifest case without a source'],
    [{ isFile: 'yes' }, 'a manifest case that does not say whether it is a file'],
    [{ nodeName: 1 }, 'a manifest case without a node name'],
    [{ out: {} }, 'a manifest case without an outcome'],
  ])('is refused when it cannot be played: %j', (change, problem) => {
    expect(manifestCaseProblem({ ...whole, ...change })).toBe(problem);
  });
});

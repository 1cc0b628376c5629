import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { agrees, runKind } from '../kinds/run-kind.ts';
import { readCases } from '../replay/read-cases.ts';
import type { ManifestCase } from './case.ts';
import { manifestKind } from './index.ts';

const file = fileURLToPath(new URL('../manifest-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('manifest') ?? []) as readonly ManifestCase[];

describe('replay of how the kubelet reads manifests', () => {
  it('finds no difference, and excuses nothing', async () => {
    const result = await runKind('manifest', manifestKind, cases);
    expect(result).toMatchObject({ cases: 997, differences: [], exemptCases: 0 });
    expect(agrees(result)).toBe(true);
  });
});

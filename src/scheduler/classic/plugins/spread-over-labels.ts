import { maxNodeScore } from '../../framework/plugin.ts';

/**
 * Scores from numbers of pods: for each label the share of pods that are elsewhere than on nodes with the node's value, and the
 * mean over the labels. `values` has for each label the value of each node; a node without the label scores 0 for it.
 */
export function spreadOverLabels(pods: readonly number[], values: readonly (readonly (string | undefined)[])[]): number[] {
  const all = pods.reduce((sum, count) => sum + count, 0);
  const scores = pods.map(() => 0);
  for (const byNode of values) {
    const podsByValue = new Map<string, number>();
    for (const [index, count] of pods.entries()) {
      const value = byNode[index];
      if (value !== undefined) podsByValue.set(value, (podsByValue.get(value) ?? 0) + count);
    }
    for (const [index, before] of scores.entries()) {
      const value = byNode[index];
      if (value === undefined) continue;
      const elsewhere = all - (podsByValue.get(value) ?? 0);
      const score = all > 0 ? maxNodeScore * (elsewhere / all) : maxNodeScore;
      scores[index] = before + score / values.length;
    }
  }
  return scores.map(Math.trunc);
}

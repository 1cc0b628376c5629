// Behaviour of pkg/scheduler/framework/plugins/helper DefaultNormalizeScore, v1.36.3.
import { maxNodeScore } from '../../framework/plugin.ts';

/**
 * Scales whole scores from 0 up, in place, so that the highest becomes 100; where all are 0 they stay 0. `reverse`: the lowest
 * number is the best, and 0 becomes 100.
 */
export function normalizeScores(scores: number[], { reverse = false }: { readonly reverse?: boolean } = {}): void {
  let highest = 0;
  for (const score of scores) if (score > highest) highest = score;
  for (let index = 0; index < scores.length; index += 1) {
    const share = highest === 0 ? 0 : Math.trunc((maxNodeScore * (scores[index] ?? 0)) / highest);
    scores[index] = reverse ? maxNodeScore - share : share;
  }
}

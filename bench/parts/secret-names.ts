/** The secrets of one pod, as in test/peers/status/secrets.go: one that all pods share, and its own. */
export function secretNames(index: number, secrets: number): string[] {
  const own = Array.from({ length: secrets - 1 }, (_, number) => `own-${String(index).padStart(5, '0')}-${number + 1}`);
  return ['shared', ...own];
}

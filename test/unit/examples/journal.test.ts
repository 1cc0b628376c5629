import type { Logger } from 'pod-status-manager';
import { describe, expect, it } from 'vitest';
import { Journal } from '../../../examples/virtual-node/journal.ts';

/** Without the time at the beginning. */
const timeless = (lines: readonly string[]): string[] => lines.map((line) => line.replace(/^\d+\.\d s /, ''));

function tell(journal: Journal, name: string, words: readonly string[]): void {
  for (const phase of words) journal.note(name, { metadata: { name }, status: { phase } });
}

describe('the journal', () => {
  it('has each word of a pod once in a row, and shows the longest life of each kind', () => {
    const journal = new Journal();
    tell(journal, 'web-0-0', ['Pending', 'Pending', 'Running']);
    tell(journal, 'web-1-0', ['Pending']);
    tell(
      journal,
      'job-2-0',
      Array.from({ length: 20 }, (_, index) => `Step${index}`),
    );
    journal.note('web-0-0', undefined);
    const steps = Array.from({ length: 11 }, (_, index) => `Step${index}`);
    expect(journal.examples()).toEqual(['web-0-0: Pending, Running, gone', `job-2-0: ${steps.join(', ')}, …, Step18, Step19`]);
  });

  it('has the newest events, and no more than twenty of them', () => {
    const journal = new Journal();
    tell(
      journal,
      'web-0-0',
      Array.from({ length: 30 }, (_, index) => `Step${index}`),
    );
    expect(journal.events).toHaveLength(20);
    expect(timeless(journal.events).at(-1)).toBe('web-0-0 Step29');
  });

  it('is the logger of a run: it keeps warnings and errors with their pod and their cause, in one line', () => {
    const journal = new Journal();
    const logger: Logger = journal;
    logger.info({ podName: 'web' }, 'all is well');
    journal.warn({ podNamespace: 'default', podName: 'web', err: new Error('quota exceeded\nand more') }, 'a pod was not synced');
    journal.error({ err: 'x'.repeat(1000) }, 'the node could not be kept in step');
    expect(timeless(journal.warnings)[0]).toBe('default/web: a pod was not synced: quota exceeded');
    expect(journal.warnings[1]?.length).toBeLessThan(420);
    expect(journal.warned).toBe(2);
  });
});

import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/** The rules of WCAG 2.2 up to level AA, and axe's own best practices. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] as const;

/**
 * What axe finds serious or critical in the page as it stands, one line for each element: the rule, the element, what is
 * wrong. Findings of less weight are left out, and what is in the elements that `except` selects.
 */
export async function findViolations(page: Page, { except }: { readonly except?: string | undefined } = {}): Promise<string[]> {
  const axe = new AxeBuilder({ page })
    .withTags([...tags])
    .options({ resultTypes: ['violations'] })
    // Without frames to go through, axe needs no second page to put its findings together: half the time is saved.
    .setLegacyMode(true);
  const { violations } = await (except === undefined ? axe : axe.exclude(except)).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary = '' }) => `${id}: ${target.join(' ')}: ${oneLine(failureSummary)}`),
    );
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

import type { CDPSession, Page } from 'playwright-core';
import { percentile } from '../support/statistics.ts';

/** Before the page's own script: notes when the first row is there, and the length of each frame from then on. */
export const probe = `
  globalThis.measured = { firstRowMs: undefined, frames: [], longTasks: [] };
  new MutationObserver((_, observer) => {
    if (!document.querySelector('#pods [role=row][id]')) return;
    requestAnimationFrame(() => setTimeout(() => { measured.firstRowMs ??= performance.now(); }));
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true });
  new PerformanceObserver((list) => measured.longTasks.push(...list.getEntries().map((entry) => entry.duration)))
    .observe({ type: 'longtask' });
  let before;
  requestAnimationFrame(function frame(now) {
    if (before !== undefined) measured.frames.push(now - before);
    before = now;
    requestAnimationFrame(frame);
  });
`;

export interface Frames {
  readonly framesASecond: number;
  readonly frameP50Ms: number;
  readonly frameP99Ms: number;
  readonly longestFrameMs: number;
  /** Share of the time in which the page's main thread was at work, from 0 to 1. */
  readonly busy: number;
  /** Tasks of 50 ms and more. */
  readonly longTasks: number;
}

export async function timeToFirstTable(page: Page): Promise<number> {
  // the page's policy lets nothing poll inside it
  for (;;) {
    const firstRowMs = await page.evaluate<number | undefined>('measured.firstRowMs');
    if (firstRowMs !== undefined) return firstRowMs;
    await page.waitForTimeout(50);
  }
}

/** The page's JavaScript heap after a collection, in megabytes. */
export async function heapMB(cdp: CDPSession): Promise<number> {
  await cdp.send('HeapProfiler.collectGarbage');
  return ((await metricsOf(cdp)).JSHeapUsedSize ?? 0) / 1e6;
}

/** Watches the frames of the page for so many seconds. */
export async function watchFrames(page: Page, cdp: CDPSession, seconds: number): Promise<Frames> {
  await page.evaluate('measured.frames.length = 0; measured.longTasks.length = 0;');
  const before = (await metricsOf(cdp)).TaskDuration ?? 0;
  await page.waitForTimeout(seconds * 1000);
  const busySeconds = ((await metricsOf(cdp)).TaskDuration ?? 0) - before;
  const { frames, longTasks } = await page.evaluate<{ frames: number[]; longTasks: number[] }>('measured');
  const total = frames.reduce((sum, ms) => sum + ms, 0);
  return {
    framesASecond: (frames.length / total) * 1000,
    frameP50Ms: percentile(frames, 0.5),
    frameP99Ms: percentile(frames, 0.99),
    longestFrameMs: Math.max(...frames),
    busy: busySeconds / (total / 1000),
    longTasks: longTasks.length,
  };
}

async function metricsOf(cdp: CDPSession): Promise<Partial<Record<string, number>>> {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

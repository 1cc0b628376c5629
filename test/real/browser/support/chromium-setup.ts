import type { TestProject } from 'vitest/node';
import { requireChromium } from './require-chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of the Chromium that the run uses. */
    readonly chromiumPath: string;
  }
}

/** Finds a Chromium before the first browser test, or fails with the command that gets it. */
export default async function setup(project: TestProject): Promise<void> {
  project.provide('chromiumPath', await requireChromium());
}

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

/** What the system's packages call Chromium, and browsers that are Chromium beneath. */
const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'] as const;

export interface FindChromiumOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly exists?: (path: string) => boolean;
  /** Where Playwright keeps its own browser, whether it is there or not. */
  readonly playwrightsOwn?: () => string;
}

/**
 * The path of a Chromium: `PSM_CHROMIUM`, else Playwright's own, else the first of the usual names in `PATH`; undefined
 * where there is none. Throws when `PSM_CHROMIUM` names no file: another browser than the one that was asked for is no answer.
 */
export function findChromium(options: FindChromiumOptions = {}): string | undefined {
  const { env = process.env, exists = existsSync, playwrightsOwn = () => chromium.executablePath() } = options;
  const wanted = env.PSM_CHROMIUM;
  if (wanted) {
    if (exists(wanted)) return wanted;
    throw new Error(`PSM_CHROMIUM is ${wanted}, and there is no such file`);
  }
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const inPath = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [playwrightsOwn(), ...inPath].find((path) => path !== '' && exists(path));
}

import { type Browser, chromium } from 'playwright-core';

/** What a browser does of its own accord over the network, and what needs a graphics card or a big /dev/shm, is off. */
const args = [
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
] as const;

/** Starts a headless Chromium. Root has no sandbox: Chromium refuses to start with one. */
export function launchChromium(executablePath: string, more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath, args: [...args, ...more], chromiumSandbox: process.getuid?.() !== 0 });
}

import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withLockFile } from '../../../support/lock-file.ts';
import { findChromium } from './find-chromium.ts';

const installing = ['apt-get update', 'apt-get install -y --no-install-recommends chromium'] as const;

export class NoChromiumError extends Error {
  constructor(cause?: unknown) {
    super(
      'The browser tests need Chromium, and there is none. On Debian and Ubuntu, as root: ' +
        `${installing.join(' && ')}. Elsewhere: npx playwright-core install chromium. ` +
        'Or set PSM_CHROMIUM to the path of a Chromium or Chrome.',
      { cause },
    );
  }
}

export interface RequireChromiumOptions {
  readonly find?: () => string | undefined;
  /** True where `apt-get` may be run. */
  readonly canInstall?: () => Promise<boolean>;
  readonly install?: () => Promise<void>;
}

/** The path of a Chromium. Where there is none, Debian's package is installed, if this is Debian and we are root. */
export async function requireChromium(options: RequireChromiumOptions = {}): Promise<string> {
  const { find = findChromium, canInstall = isRootOfDebian, install = installOnce } = options;
  const found = find();
  if (found !== undefined) return found;
  if (!(await canInstall())) throw new NoChromiumError();
  await install().catch((error: unknown) => {
    throw new NoChromiumError(error);
  });
  const installed = find();
  if (installed === undefined) throw new NoChromiumError();
  return installed;
}

async function isRootOfDebian(): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  return access('/etc/debian_version').then(
    () => true,
    () => false,
  );
}

/** Two runs that begin at once install it one after the other: apt-get has a lock that it does not wait for. */
async function installOnce(): Promise<void> {
  await withLockFile(join(tmpdir(), 'pod-status-manager-chromium.lock'), async () => {
    if (findChromium() !== undefined) return;
    process.stderr.write(`Installing Chromium: ${installing.join(' && ')}\n`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    for (const command of installing) await promisify(execFile)('sh', ['-c', command], { env, maxBuffer: 2 ** 26 });
  });
}

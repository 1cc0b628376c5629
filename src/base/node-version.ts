// Each entry point imports this file first, so that an older Node is told what it lacks before it fails at something else.
import { StatusManagerError } from './errors.ts';

/** The oldest Node.js that the package runs on; `engines` in package.json says the same. */
export const oldestNodeVersion = '22.19';

/** Throws when a Node.js of this version is older than the package needs. */
export function checkNodeVersion(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = oldestNodeVersion.split('.').map(Number);
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return;
  throw new StatusManagerError(
    'ERR_NODE_VERSION',
    `pod-status-manager needs Node.js ${oldestNodeVersion} or newer, and this is Node.js ${version}`,
  );
}

checkNodeVersion(process.versions.node);

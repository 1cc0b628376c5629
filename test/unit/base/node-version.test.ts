import { describe, expect, it } from 'vitest';
import { checkNodeVersion } from '../../../src/base/node-version.ts';

describe('checkNodeVersion', () => {
  it.each(['22.19.0', '22.20.1', '23.0.0', '24.0.0-nightly', '100.1.0'])('takes %s', (version) => {
    expect(checkNodeVersion(version)).toBeUndefined();
  });

  it.each([
    '0.12.18',
    '18.20.8',
    '20.20.2',
    '22.9.0',
    '22.18.0',
  ])('refuses %s, and names the version that is needed', (version) => {
    expect(() => checkNodeVersion(version)).toThrow(
      expect.objectContaining({
        name: 'StatusManagerError',
        code: 'ERR_NODE_VERSION',
        message: `pod-status-manager needs Node.js 22.19 or newer, and this is Node.js ${version}`,
      }),
    );
  });
});

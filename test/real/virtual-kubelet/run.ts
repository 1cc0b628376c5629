// `npm run test:virtual-kubelet [-- FILE...]`: builds what is needed, then runs the tests of this folder in a network of their own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { root } from '../../structure/source-tree.ts';
import { buildTools } from './support/build-tools.ts';
import { whyNoVirtualKubelet } from './support/why-not.ts';

const reason = await whyNoVirtualKubelet();
if (reason !== undefined) {
  console.error(`these tests cannot run here: ${reason}`);
  process.exit(1);
}
await buildTools();
const vitest = ['run', '--config', 'test/real/virtual-kubelet/vitest.config.ts', ...process.argv.slice(2)];
const args = ['--net', join(root, 'node_modules/.bin/vitest'), ...vitest];
const child = spawn('unshare', args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
const [code] = await once(child, 'close');
process.exitCode = code ?? 1;

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { root } from '../structure/source-tree.ts';

const example = join(root, 'examples/kubelet');

/** The options of Node with which the example's systemd unit starts it: they are written down there, and nowhere else. */
export function heapOptions(unit = readFileSync(join(example, 'kubelet.service'), 'utf8')): string[] {
  const options = /^ExecStart=\S+((?: --\S+)+) \S+\/main\.\w+ /m.exec(unit)?.[1]?.trim().split(' ');
  if (options === undefined) throw new Error('the unit kubelet.service gives Node no options');
  return options;
}

/**
 * A shell command that starts examples/kubelet as its unit does, from JavaScript: Node takes more memory for a program that it
 * must strip of types. It needs the built package. Flags of the example may follow.
 */
export function ownAgentCommand(): string {
  const outfile = join(root, '.built/kubelet.mjs');
  buildSync({
    entryPoints: [join(example, 'main.ts')],
    ...{ outfile, bundle: true, platform: 'node', format: 'esm', target: 'node22', logLevel: 'warning' },
    // the package itself is not bundled either: its paths in tsconfig.json lead to its sources
    ...{ packages: 'external', tsconfigRaw: '{}' },
  });
  return [`'${process.execPath}'`, ...heapOptions(), `'${outfile}'`].join(' ');
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleKubelet } from '../../examples/kubelet/bundle.ts';
import { root } from '../structure/source-tree.ts';

const example = join(root, 'examples/kubelet');

/** The options of Node with which the example's systemd unit starts it: they are written down there, and nowhere else. */
export function heapOptions(unit = readFileSync(join(example, 'kubelet.service'), 'utf8')): string[] {
  const options = /^ExecStart=\S+((?: --\S+)+) \S+\.mjs /m.exec(unit)?.[1]?.trim().split(' ');
  if (options === undefined) throw new Error('the unit kubelet.service gives Node no options');
  return options;
}

/** A shell command that starts examples/kubelet as its unit does. It needs the built package. Flags of the example may follow. */
export function ownAgentCommand(): string {
  return [`'${process.execPath}'`, ...heapOptions(), `'${bundleKubelet()}'`].join(' ');
}

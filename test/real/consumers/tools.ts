import { join, posix } from 'node:path';
import { codeEntryPoints } from '../../package/entry-point-sizes.ts';
import { root } from '../../structure/source-tree.ts';

/** A file or folder of a tool that is installed in this folder. */
export function toolPath(...path: readonly string[]): string {
  return join(root, 'test', 'real', 'consumers', 'node_modules', ...path);
}

/** The Node of a major version that is installed in this folder: 22 is the oldest that the package takes. */
export function nodeOf(major: 20 | 22 | 24 | 26): string {
  return toolPath(`node-${major}`, 'bin', 'node');
}

/** What users import: `pod-status-manager`, `pod-status-manager/node`. */
export const entryPointNames = codeEntryPoints(root).map(({ entryPoint }) => posix.join('pod-status-manager', entryPoint));

import { execFile } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';
import { behindAddress, nodeAddress } from './world.ts';

/** A kube-apiserver calls no node at a loopback address. These are addresses for documentation, on the loopback interface. */
export async function makeNetwork(): Promise<void> {
  const others = Object.keys(networkInterfaces()).filter((name) => name !== 'lo');
  if (others.length > 0) throw new Error('this needs a network of its own, as `unshare --net` makes it');
  const ip = (...args: string[]) => promisify(execFile)('ip', args);
  await ip('link', 'set', 'lo', 'up');
  for (const address of [nodeAddress, behindAddress]) await ip('address', 'add', `${address}/32`, 'dev', 'lo');
}

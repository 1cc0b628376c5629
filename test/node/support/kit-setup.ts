import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { NodeKit } from './node-kit.ts';
import { whyNoKit } from './why-no-kit.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the node kit that is up. */
    nodeKitRun: string;
  }
}

/**
 * Starts a node kit without a node agent, or takes the one that is up in NODE_KIT_RUN. On a machine where there can be none the
 * run fails, and says why: nothing has been tested then.
 */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env.NODE_KIT_RUN;
  if (given !== undefined) {
    project.provide('nodeKitRun', given);
    return undefined;
  }
  // `npm run test:mounts` needs no containers
  if (process.env.OWN_MOUNTS === '1') return undefined;
  const reason = await whyNoKit();
  if (reason !== undefined) throw new Error(`not run: ${reason}`);
  const run = await mkdtemp(join(tmpdir(), 'node-kit-'));
  const kit = await NodeKit.start({ run, agent: 'none' });
  project.provide('nodeKitRun', run);
  return async () => {
    await kit.stop();
    await rm(run, { recursive: true, force: true });
  };
}

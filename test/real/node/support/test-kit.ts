import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NodeKit } from './node-kit.ts';
import { whyNoKit } from './why-no-kit.ts';

/** How long a kit may take that must be built first. */
export const kitStartMs = 20 * 60_000;

/**
 * Starts a node kit for one test file; `agent` as in {@link NodeKit}. Rejects on a machine where there can be none, and says why:
 * nothing has been tested then. Its folder is in NODE_KIT_FOLDER, whose owner ends the kits of tests that were killed.
 */
export async function startTestKit(agent: string): Promise<{ kit: NodeKit; close(): Promise<void> }> {
  const reason = await whyNoKit();
  if (reason !== undefined) throw new Error(`not run: ${reason}`);
  const run = await mkdtemp(join(process.env.NODE_KIT_FOLDER ?? tmpdir(), 'node-kit-'));
  const kit = await NodeKit.start({ run, agent });
  const close = async (): Promise<void> => {
    await kit.stop();
    await rm(run, { recursive: true, force: true });
  };
  return { kit, close };
}

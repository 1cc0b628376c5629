import { onTestFinished } from 'vitest';
import { createDebugHandler } from '../../../../src/debug.ts';
import { BasicPodManager, type Pod, StatusManager } from '../../../../src/index.ts';
import { buildPod, FakePodClient } from '../../../../src/testing.ts';
import { serveLocally } from '../../../support/serve-locally.ts';

export interface DebuggedManager {
  readonly manager: StatusManager;
  readonly client: FakePodClient;
  readonly pods: readonly Pod[];
  /** The address of the page. */
  readonly url: string;
}

/**
 * A status manager of these pods that runs, with the debug handler under `path` of a server on loopback, as an embedder would
 * have it. All ends with the test.
 */
export async function startDebuggedManager(names: readonly string[], path: string): Promise<DebuggedManager> {
  const client = new FakePodClient();
  const podManager = new BasicPodManager();
  const pods = names.map((name) => client.store.put(buildPod({ metadata: { name, uid: `uid-of-${name}` } })) as Pod);
  podManager.setPods(pods);
  const podDeletionSafety = { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false };
  const manager = new StatusManager({ podClient: client, podManager, podDeletionSafety, logger: null });
  const handler = createDebugHandler({ manager, basePath: path });
  const server = await serveLocally((request, response) => {
    if (request.url?.startsWith(path)) handler(request, response);
    else response.writeHead(404).end();
  });
  manager.start();
  onTestFinished(async () => {
    handler.close();
    await server[Symbol.asyncDispose]();
    await manager.stop({ drainTimeoutMs: 0 });
  });
  return { manager, client, pods, url: new URL(path, server.url).href };
}

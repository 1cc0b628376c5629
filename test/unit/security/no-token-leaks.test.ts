import { inspect } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import {
  ApiServerPodSource,
  BasicPodManager,
  KubePodClient,
  type Logger,
  type MetricsSink,
  StatusManager,
} from '../../../src/index.ts';
import { buildPod, type Fault, InMemoryApiServer } from '../../../src/testing.ts';
import { ServedDebug } from '../../server/debug/served-debug.ts';

const token = 'sEcReT-bearer-token-0123456789';

function configWith(server: InMemoryApiServer): KubeConfig {
  const config = server.kubeConfig();
  const cluster = config.getCurrentCluster();
  const withToken = new KubeConfig();
  withToken.loadFromOptions({
    clusters: [cluster],
    users: [{ name: 'agent', token }],
    contexts: [{ name: 'c', cluster: cluster?.name, user: 'agent' }],
    currentContext: 'c',
  });
  return withToken;
}

const faults: readonly Fault[] = [
  { kind: 'status', code: 401 },
  { kind: 'status', code: 403 },
  { kind: 'status', code: 422 },
  { kind: 'status', code: 500 },
  { kind: 'garbage' },
  { kind: 'cut' },
  { kind: 'reset' },
];

describe('a bearer token', () => {
  it.each(
    faults,
  )('is in no log line, error, event, metric, explanation or debug page of a request that fails with %o', async (fault) => {
    const heard: unknown[] = [];
    const hear = (...args: unknown[]): void => void heard.push(args);
    const logger: Logger = { debug: hear, info: hear, warn: hear, error: hear };
    const metrics: MetricsSink = { increment: hear, observe: hear, set: hear };
    await using server = await InMemoryApiServer.start({ token });
    const kubeConfig = configWith(server);
    const pod = server.store.create(
      buildPod({ metadata: { name: 'web' }, spec: { nodeName: 'n', containers: [{ name: 'a', image: 'i' }] } }),
    );
    const podManager = new BasicPodManager();
    await using source = new ApiServerPodSource({
      kubeConfig,
      nodeName: 'n',
      podManager,
      logger,
      handlers: { interrupted: hear },
    });
    await using podClient = KubePodClient.fromKubeConfig(kubeConfig, { logger });
    await source.start();
    const podDeletionSafety = { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false };
    await using manager = new StatusManager({ podClient, podManager, podDeletionSafety, logger, metrics, random: () => 0 });
    server.fail({ verb: 'patch', times: 3, fault });
    await using debug = await ServedDebug.start({ manager, logger });
    const failed = new Promise((resolve) => manager.once('syncError', resolve));
    for (const event of ['syncError', 'request'] as const) manager.on(event, hear);
    manager.start();
    manager.setPodStatus(pod, { phase: 'Running' });
    await failed;
    const uid = pod.metadata?.uid ?? 'no uid';
    heard.push(manager.explain(uid), manager.snapshot());
    const pages = await Promise.all(['', 'api/snapshot', `pods/${uid}`, `api/pods/${uid}`].map((path) => debug.text(path)));
    for (const page of pages) expect(page).toContain(uid);
    expect(pages[3]).toContain('"kind":"error"');
    heard.push(pages);
    await manager.stop({ drainTimeoutMs: 0 });
    const everything = inspect(heard, { depth: 12, maxStringLength: null, maxArrayLength: null, showHidden: true });
    expect(everything).toContain(uid);
    expect(everything).not.toContain(token);
  });
});

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject, WirePod } from '../../../src/api/json/types.ts';
import { createPodStatusPatch } from '../../../src/api/patch/pod-status-patch.ts';
import { type Answer, podOf, type ServedPod } from '../../support/answers.ts';
import { goPatches } from '../../support/go-patches.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { pairSpec, type StatusPair, statusPair } from '../../support/status-pairs.ts';
import { podStatus, unordered } from '../../unit/api/patch/effective-status.ts';

const pairCount = 500;
const writers = ['go', 'strategic', 'json'] as const;
type Writer = (typeof writers)[number];

let server: TestServer;
let namespace: string;
const refusals = new Set<string>();

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('wire');
  // the server creates no pod before the namespace has its service account
  await server.admin.send('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { body: { metadata: { name: 'default' } } });
});
afterAll(() => server.stop());

/** Works on sixteen items at once, because a test of 500 pairs makes thousands of requests. */
async function inParallel<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  return results;
}

/** A pod with the old status; undefined when the server refuses that status. */
async function podWith(name: string, old: JsonObject): Promise<ServedPod | undefined> {
  const pod: WirePod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec: pairSpec };
  const created = podOf(await server.admin.createPod(namespace, pod));
  const put = await server.admin.replacePodStatus(namespace, name, { ...created, status: old });
  if (put.status === 200) return podOf(put);
  refusals.add(messageOf(put));
  return undefined;
}

function messageOf({ body }: Answer): string {
  return (body as { message?: string }).message?.replace(/^Pod "[^"]*"/, 'Pod') ?? String(body);
}

interface Written {
  readonly code: number;
  readonly status: JsonObject;
}

async function write(pod: ServedPod, body: unknown, format: 'strategic' | 'json'): Promise<Written> {
  const { name } = pod.metadata;
  const answer = await server.admin.patchPodStatus(namespace, name, body, format);
  if (answer.status !== 200) {
    refusals.add(messageOf(answer));
    return { code: answer.status, status: {} };
  }
  return { code: 200, status: podOf(answer).status as unknown as JsonObject };
}

describe('our patch and the patch of the Go library', () => {
  it('leave the same pod on the apiserver, in either format, for any two statuses', async () => {
    const seed = Number(process.env.PROPERTY_SEED ?? 20_260_101);
    const pairs: StatusPair[] = fc.sample(statusPair, { seed, numRuns: pairCount });
    const pods = await inParallel(pairs, async ({ old }, index) => {
      const [go, strategic, json] = await Promise.all(writers.map((writer) => podWith(`${writer}-${index}`, old)));
      return go && strategic && json ? { go, strategic, json } : undefined;
    });
    const tried = pairs.flatMap((pair, index) => {
      const three = pods[index];
      return three === undefined ? [] : [{ ...pair, ...three }];
    });
    const fromGo = await goPatches(tried.map(({ go, old, next }) => ({ uid: go.metadata.uid, old, new: next })));

    const results = await inParallel(tried, async ({ old, next, ...three }, index) => {
      const ours = async (format: 'strategic' | 'json'): Promise<Written> => {
        const { uid, resourceVersion } = three[format].metadata;
        const patch = createPodStatusPatch(podStatus(old), podStatus(next), { uid, resourceVersion, format });
        return patch.unchanged
          ? { code: 200, status: three[format].status as unknown as JsonObject }
          : write(three[format], patch.body, format);
      };
      const go = await write(three.go, fromGo[index], 'strategic');
      return { go, strategic: await ours('strategic'), json: await ours('json') } satisfies Record<Writer, Written>;
    });

    const accepted = results.filter(({ go }) => go.code === 200);
    console.info(`seed ${seed}: ${accepted.length} of ${pairCount} pairs accepted`);
    expect(accepted.length, [...refusals].slice(0, 9).join('\n')).toBeGreaterThanOrEqual(pairCount * 0.95);
    for (const [index, { go, strategic, json }] of results.entries()) {
      const pair = JSON.stringify({ old: tried[index]?.old, next: tried[index]?.next });
      expect([strategic.code, json.code], pair).toEqual([go.code, go.code]);
      expect(strategic.status, pair).toEqual(go.status);
      // JSON Patch appends, so the order of conditions and claims may differ
      expect(unordered(json.status), pair).toEqual(unordered(go.status));
    }
  });
});

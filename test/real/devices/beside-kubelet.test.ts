// The real kubelet and examples/kubelet in turn, with Kubernetes' sample device plugin on a real cluster: what can be seen is the same.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import buildPackage from '../../support/build-setup.ts';
import { ResourcesClient } from '../../support/plugins/resources-client.ts';
import { requireSamplePlugin, samplePluginProgram } from '../../support/plugins/sample-device-plugin.ts';
import { pollUntil } from '../../support/poll-until.ts';
import { type NodeKit, ownAgent } from '../node/support/node-kit.ts';
import { kitStartMs, startTestKit } from '../node/support/test-kit.ts';

const resource = 'example.com/resource';
const enter = fileURLToPath(new URL('../../peers/node-kit/enter.sh', import.meta.url));
const withinMs = 120_000;
const namespace = 'default';

function podWith(name: string) {
  const limits = { [resource]: '1' };
  const image = 'registry.k8s.io/e2e-test-images/busybox:1.37.0-1';
  const app = { name: 'app', image, imagePullPolicy: 'IfNotPresent', command: ['sleep', '3600'], resources: { limits } };
  const spec = { nodeName: 'node-kit', terminationGracePeriodSeconds: 0, enableServiceLinks: false, containers: [app] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec };
}

/** A node with the sample plugin, and what can be seen of it. */
class DeviceNode {
  readonly #kit: NodeKit;
  readonly #plugin = new AbortController();
  #ended: Promise<unknown> = Promise.resolve();

  constructor(kit: NodeKit) {
    this.#kit = kit;
  }

  get root(): string {
    return join(this.#kit.run, 'var/lib/kubelet');
  }

  async run(...command: string[]): Promise<string> {
    const env = { ...process.env, NODE_KIT_RUN: this.#kit.run };
    const { stdout } = await promisify(execFile)(enter, command, { env, maxBuffer: 16 * 1024 * 1024 });
    return stdout;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the fields of any object
  async get(...what: string[]): Promise<any> {
    return JSON.parse(await this.run('kubectl', 'get', '-n', namespace, '-o', 'json', ...what));
  }

  startPlugin(): void {
    const script = 'mkdir -p /var/run/cdi; CDI_ENABLED=1 exec "$0" > /dev/null 2>&1';
    this.#ended = this.#kit.enter(['sh', '-c', script, samplePluginProgram], this.#plugin.signal);
  }

  async stopPlugin(): Promise<void> {
    this.#plugin.abort();
    await this.#ended;
  }

  async counts(): Promise<string> {
    const { status } = await this.get('node', 'node-kit');
    return `${status.capacity[resource]} ${status.allocatable[resource]}`;
  }

  async awaitCounts(wanted: string): Promise<void> {
    const seen: string[] = [];
    const isThere = async (): Promise<boolean> => seen[seen.push(await this.counts()) - 1] === wanted;
    await pollUntil(`the node has ${wanted}`, isThere, { withinMs, seen: () => seen.at(-1) });
  }

  /** Resolves once the pod is in the phase. */
  async createPod(name: string, phase: string) {
    const file = join(this.#kit.run, `${name}.json`);
    await writeFile(file, JSON.stringify(podWith(name)));
    await this.run('kubectl', 'create', '-f', file);
    return pollUntil(
      `the pod ${name} is ${phase}`,
      async () => {
        const pod = await this.get('pod', name);
        return pod.status.phase === phase && pod;
      },
      { withinMs },
    );
  }

  checkpoint(): Promise<string> {
    return readFile(join(this.root, 'device-plugins', 'kubelet_internal_checkpoint'), 'utf8');
  }
}

/** The text without what differs from run to run: uids, and which device each pod got. */
function usual(value: unknown, names: ReadonlyMap<string, string>): unknown {
  let text = JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each));
  for (const [name, shown] of names) text = text.replaceAll(name, shown);
  return JSON.parse(text);
}

function sorted<T>(list: readonly T[]): T[] {
  return [...list].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

async function resourcesSeen(node: DeviceNode) {
  using client = new ResourcesClient(join(node.root, 'pod-resources', 'kubelet.sock'));
  const { podResources: all } = await client.call('list');
  const { podResources: one } = await client.call('get', { podName: 'one', podNamespace: namespace });
  const { podResources: alpha } = await client.call('list', {}, '/v1alpha1.PodResourcesLister/List');
  const missing = await client.call('get', { podName: 'no', podNamespace: namespace }).catch((error: Error) => error.message);
  const byName = (list: { readonly name: string }[]) => sorted(list).map((each) => ({ ...each }));
  return { all: byName(all), one, alpha: byName(alpha), missing, allocatable: await client.call('getAllocatableResources') };
}

interface Entry {
  readonly PodUID: string;
}

/** What a container sees of its device. */
async function seenInContainer(node: DeviceNode): Promise<string[]> {
  const script =
    'env | grep CDI; grep " /tmp" /proc/mounts | cut -d" " -f2,3; ls -l /tmp | tail -n +2 | tr -s " " | cut -d" " -f1,5,6,10-';
  return (await node.run('kubectl', 'exec', 'one', '--', 'sh', '-c', script)).split('\n');
}

/** Its entries in the order of the pods. */
async function checkpointSeen(node: DeviceNode, uids: readonly string[]) {
  const { Data, Checksum, ...rest } = JSON.parse(await node.checkpoint());
  const { PodDeviceEntries: entries, RegisteredDevices: registered, ...more } = Data;
  const read = entries.map(({ AllocResp, ...entry }: { readonly AllocResp: string }) => ({
    ...entry,
    AllocResp: Buffer.from(AllocResp, 'base64').toString('latin1'),
  }));
  const ids = sorted(registered[resource]);
  return {
    entries: read.sort((a: Entry, b: Entry) => uids.indexOf(a.PodUID) - uids.indexOf(b.PodUID)),
    registered: { ...registered, [resource]: ids },
    more,
    rest,
    checksum: typeof Checksum,
  };
}

async function observed(agent: string) {
  const { kit, close } = await startTestKit(agent);
  const node = new DeviceNode(kit);
  try {
    node.startPlugin();
    await node.awaitCounts('2 2');
    const pods = [await node.createPod('one', 'Running'), await node.createPod('two', 'Running')];
    const { status: refused } = await node.createPod('three', 'Failed');
    const uids = pods.map(({ metadata }) => String(metadata.uid));
    const checkpoint = await checkpointSeen(node, uids);
    const idOf = (uid: string | undefined): string =>
      checkpoint.entries.find(({ PodUID }: never) => PodUID === uid)?.DeviceIDs['-1'][0] ?? 'none';
    const names = new Map([
      ...uids.map((uid, index) => [uid, `uid-${index}`] as const),
      ...uids.map((uid, index) => [idOf(uid), `device-${index}`] as const),
    ]);
    const [one] = pods;
    const seen = {
      container: await seenInContainer(node),
      allocatedResourcesStatus: one?.status.containerStatuses[0].allocatedResourcesStatus ?? 'none',
      refused: { phase: refused.phase, reason: refused.reason, message: refused.message },
      resources: await resourcesSeen(node),
      checkpoint,
    };
    await node.stopPlugin();
    await node.awaitCounts('2 0');
    const { status: late } = await node.createPod('late', 'Failed');
    return usual({ ...seen, late: { reason: late.reason, message: late.message } }, names) as typeof seen;
  } finally {
    await node.stopPlugin();
    await close();
  }
}

let theirs: Awaited<ReturnType<typeof observed>>;
let ours: typeof theirs;

beforeAll(async () => {
  await requireSamplePlugin();
  await buildPackage();
  theirs = await observed('kubelet');
  ours = await observed(ownAgent());
}, kitStartMs);

describe('beside the real kubelet, with the sample device plugin of Kubernetes', () => {
  it('has something to compare', () => {
    expect(theirs.refused.reason).toBe('UnexpectedAdmissionError');
    expect(theirs.container.join()).toContain('device-0');
    expect(theirs.checkpoint.entries).toHaveLength(2);
    expect(theirs.resources.allocatable.devices).toHaveLength(2);
  });

  it.each([
    'container',
    'allocatedResourcesStatus',
    'refused',
    'late',
    'resources',
    'checkpoint',
  ] as const)('shows the same: %s', (what) =>
    expect((ours as Record<string, unknown>)[what]).toEqual((theirs as Record<string, unknown>)[what]));
});

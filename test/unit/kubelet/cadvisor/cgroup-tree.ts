import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ContainerMetrics, type ContainerMetricsOptions } from '../../../../src/kubelet/cadvisor/container-metrics.ts';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { quietMachine } from '../../../support/quiet-machine.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { tempDir } from '../../../support/temp-dir.ts';

/** Files by their paths. */
export type Tree = Readonly<Record<string, string>>;

async function writeTree(root: string, tree: Tree): Promise<void> {
  for (const [name, text] of Object.entries(tree)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
}

export const containerID = 'c'.repeat(64);
export const sandboxID = 'a'.repeat(64);
const labels = { 'io.kubernetes.pod.name': 'web', 'io.kubernetes.pod.namespace': 'shop', 'io.kubernetes.pod.uid': 'u1' };

/** What a runtime says of one pod with one container. */
export const onePod = {
  listContainers: async () => [
    {
      id: containerID,
      image: 'sha256:1',
      imageRef: 'sha256:1',
      createdAt: 1_700_000_000_000,
      labels: { ...labels, 'io.kubernetes.container.name': 'app' },
    },
  ],
  listPodSandboxes: async () => [{ id: sandboxID, createdAt: 1_690_000_000_000, labels }],
  listImages: async () => [
    { id: 'sha256:1', repoTags: ['quay.io/shop/app:1'], repoDigests: [], pinned: false },
    { id: 'sha256:2', repoTags: ['registry.k8s.io/pause:3.10'], repoDigests: [], pinned: true },
  ],
} as unknown as ContainerMetricsOptions['runtime'];

/** A node with these files of the kernel, and the pod. */
export async function measuredNode(trees: { cgroups: Tree; sys?: Tree; proc?: Tree }, runtime = onePod) {
  const folder = await tempDir();
  const places = { cgroups: join(folder, 'cgroup'), sys: join(folder, 'sys'), proc: join(folder, 'proc') };
  await writeTree(places.cgroups, trees.cgroups);
  await writeTree(places.sys, trees.sys ?? {});
  await writeTree(places.proc, trees.proc ?? {});
  const [clock, log] = [new FakeClock(), recordedLines()];
  const machine = { ...quietMachine(), cpus: 4, memoryBytes: 8e9, swapBytes: 2e9, bootID: 'b', machineID: 'm', systemUUID: 's' };
  const pods = () => [buildPod({ metadata: { uid: 'u1', name: 'web', namespace: 'shop' } })];
  const metrics = new ContainerMetrics({ runtime, machine, cgroupRoot: '/', pods, clock, logger: log.logger, places });
  return { metrics, clock, log, places };
}

/** The samples of a family without their times, by what is in the labels. */
export function samplesOf(text: string, family: string): string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${family}{`) || line.startsWith(`${family} `))
    .map((line) => line.slice(family.length).replace(/(\S+) \d{12,13}$/, '$1'))
    .sort();
}

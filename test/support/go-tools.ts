import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type GoBuild, type GoBuildContext, goBuild } from './go-build.ts';
import { withLockFile } from './lock-file.ts';
import { isExecutable, userCache } from './user-cache.ts';

/**
 * `etcd`, `kube-apiserver` and `kube-controller-manager`: the real control plane. `kube-scheduler`: beside ours. `peer`: the Go status manager for benchmarks.
 * `oracle`: its recorder.
 * `agent`: the recorder of the kubelet's other parts, and their rival in benchmarks. `kwok`: the rival of a virtual node.
 * `kubectl`: the client of users. `metrics-server`: what `kubectl top` asks. `virtual-kubelet`: with its mock, and `virtual-kubelet-suite`, its end-to-end tests. `kwok-suite`: two cases of kwok's.
 * `scheduler-perf`: Kubernetes' benchmark of its scheduler.
 * `actionlint`: reads the workflows of .github.
 */
export type GoTool =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubectl'
  | 'metrics-server'
  | 'peer'
  | 'oracle'
  | 'agent'
  | 'kwok'
  | 'virtual-kubelet'
  | 'virtual-kubelet-suite'
  | 'kwok-suite'
  | 'scheduler-perf'
  | 'actionlint';

export interface GoToolsOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** The Go module; default: the tool's own, a folder of `test`. */
  readonly moduleDir?: string;
  readonly go?: string;
  /** Gets the progress lines; default: standard error. */
  readonly report?: (line: string) => void;
  readonly progressMs?: number;
}

const modules: Readonly<Record<GoTool, string>> = {
  etcd: 'peers/status',
  'kube-apiserver': 'peers/status',
  'kube-controller-manager': 'peers/node-kit/go/k8s',
  'kube-scheduler': 'peers/node-kit/go/k8s',
  kubectl: 'peers/node-kit/go/k8s',
  'metrics-server': 'peers/metrics-server',
  peer: 'peers/status',
  oracle: 'peers/status',
  agent: 'peers/agent',
  kwok: 'peers/kwok',
  'virtual-kubelet': 'peers/virtual-kubelet',
  'virtual-kubelet-suite': 'peers/virtual-kubelet',
  'kwok-suite': 'peers/kwok-suite',
  'scheduler-perf': 'peers/node-kit/go/k8s',
  actionlint: 'real/actionlint',
};

const version = 'k8s.io/component-base/version';
const kubernetesVersion = `-X ${version}.gitVersion=v1.36.3 -X ${version}.gitMajor=1 -X ${version}.gitMinor=36`;

function kubernetesCommand(name: string, usually: string): GoBuild {
  return {
    name,
    args: (file) => [
      ...['build', '-trimpath', '-ldflags', `-s -w ${kubernetesVersion}`],
      ...['-o', file, `k8s.io/kubernetes/cmd/${name}`],
    ],
    env: { CGO_ENABLED: '0' },
    usually,
  };
}

const virtualKubelet = 'github.com/virtual-kubelet/virtual-kubelet';

const builds: Readonly<Record<GoTool, GoBuild>> = {
  etcd: {
    name: 'etcd',
    args: (file) => ['build', '-trimpath', '-ldflags', '-s -w', '-o', file, 'go.etcd.io/etcd/server/v3'],
    env: { CGO_ENABLED: '0' },
    usually: '1 min',
  },
  'kube-apiserver': kubernetesCommand('kube-apiserver', '5 min'),
  'kube-controller-manager': kubernetesCommand('kube-controller-manager', '2 min'),
  'kube-scheduler': kubernetesCommand('kube-scheduler', '2 min'),
  kubectl: kubernetesCommand('kubectl', '1 min'),
  'metrics-server': {
    name: 'metrics-server',
    args: (file) => ['build', '-trimpath', '-o', file, 'sigs.k8s.io/metrics-server/cmd/metrics-server'],
    env: { CGO_ENABLED: '0' },
    usually: '2 min',
  },
  peer: { name: 'peer', args: (file) => ['build', '-o', file, '.'], env: {}, usually: '2 min' },
  oracle: { name: 'oracle', args: (file) => ['test', '-c', '-o', file, '.'], env: {}, usually: '1 min' },
  agent: {
    name: 'agent',
    prepare: './overlay.sh',
    args: (file) => ['test', '-overlay', 'overlay.json', '-c', '-o', file, '.'],
    env: {},
    usually: '2 min',
  },
  kwok: {
    name: 'kwok',
    args: (file) => ['build', '-trimpath', '-o', file, 'sigs.k8s.io/kwok/cmd/kwok'],
    env: { CGO_ENABLED: '0' },
    usually: '2 min',
  },
  'virtual-kubelet': {
    name: 'virtual-kubelet',
    args: (file) => ['build', '-trimpath', '-o', file, `${virtualKubelet}/cmd/virtual-kubelet`],
    env: { CGO_ENABLED: '0' },
    usually: '2 min',
  },
  'virtual-kubelet-suite': {
    name: "virtual-kubelet's tests",
    args: (file) => ['test', '-c', '-trimpath', '-tags', 'e2e', '-o', file, `${virtualKubelet}/internal/test/e2e`],
    env: { CGO_ENABLED: '0' },
    usually: '1 min',
  },
  'kwok-suite': {
    name: "kwok's tests",
    prepare: './overlay.sh',
    args: (file) => ['test', '-c', '-trimpath', '-overlay', 'overlay.json', '-o', file, '.'],
    env: { CGO_ENABLED: '0' },
    usually: '1 min',
  },
  'scheduler-perf': {
    name: 'scheduler_perf',
    // without -trimpath: it looks for files beside its sources
    args: (file) => ['test', '-c', '-vet=off', '-o', file, 'k8s.io/kubernetes/test/integration/scheduler_perf/misc'],
    env: { CGO_ENABLED: '0' },
    usually: '4 min',
  },
  actionlint: {
    name: 'actionlint',
    args: (file) => ['build', '-trimpath', '-o', file, 'github.com/rhysd/actionlint/cmd/actionlint'],
    env: { CGO_ENABLED: '0' },
    usually: '10 s',
  },
};

/** Beside the module, our Go package whose sources are built in, too: go.mod replaces it by its folder. */
const sharedSources: Partial<Record<GoTool, string>> = { agent: '../harness' };

/** Built from the sources of others alone. */
const foreign: readonly GoTool[] = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubectl',
  'metrics-server',
  'kwok',
  'virtual-kubelet',
  'virtual-kubelet-suite',
  'scheduler-perf',
  'actionlint',
];

function contextOf(options: GoToolsOptions, tool: GoTool = 'peer'): GoBuildContext {
  return {
    go: options.go ?? 'go',
    moduleDir: options.moduleDir ?? fileURLToPath(new URL(`../${modules[tool]}`, import.meta.url)),
    env: options.env ?? process.env,
    report: options.report ?? ((line) => void process.stderr.write(`${line}\n`)),
    progressMs: options.progressMs ?? 15_000,
  };
}

function hashOf(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

/** The folder of the built binaries: in the user's cache, named after a hash of go.sum. */
export async function goToolsDir(options: GoToolsOptions = {}): Promise<string> {
  const { env, moduleDir } = contextOf(options);
  const goSum = await readFile(join(moduleDir, 'go.sum'));
  return join(userCache(env), hashOf(goSum).slice(0, 16));
}

/** What is built from others' sources alone depends only on go.sum. The other names also have a hash of our sources (`k8s` and `kwok` link to upstream's). */
async function fileNameOf(tool: GoTool, moduleDir: string): Promise<string> {
  if (foreign.includes(tool)) return tool;
  const shared = sharedSources[tool];
  const names = [...(await goFilesOf(moduleDir)), ...(shared === undefined ? [] : await goFilesOf(moduleDir, shared))];
  const sources = tool !== 'peer' ? names : names.filter((name) => !name.endsWith('_test.go'));
  const texts = await Promise.all(sources.map((name) => readFile(join(moduleDir, name))));
  const hash = hashOf(...texts.flatMap((text, index) => [`${sources[index]}\0${text.length}\0`, text]));
  return `${tool}-${hash.slice(0, 8)}${tool === 'peer' ? '' : '.test'}`;
}

async function goFilesOf(moduleDir: string, folder = '.'): Promise<string[]> {
  const names = await readdir(join(moduleDir, folder), { recursive: true });
  return names
    .filter((name) => name.endsWith('.go') && !/^(?:k8s|kwok)\//.test(name))
    .sort()
    .map((name) => join(folder, name));
}

/** The path of a tool's binary. Builds it first if it does not exist, which takes minutes. */
export async function goTool(tool: GoTool, options: GoToolsOptions = {}): Promise<string> {
  const context = contextOf(options, tool);
  const dir = await goToolsDir({ ...options, moduleDir: context.moduleDir });
  const file = join(dir, await fileNameOf(tool, context.moduleDir));
  if (await isExecutable(file)) return file;
  await mkdir(dir, { recursive: true });
  // One lock for all tools: two Go builds at once only slow each other down.
  const build = async (): Promise<string> => {
    if (!(await isExecutable(file))) await goBuild(builds[tool], file, context);
    return file;
  };
  return withLockFile(join(dir, '.lock'), build, {
    onWait: (pid) => context.report(`waiting for process ${pid}, which is building in ${dir}`),
  });
}

export interface ServerBinaries {
  readonly etcd: string;
  readonly kubeApiserver: string;
}

/** The two binaries of the real control plane: from `KUBEBUILDER_ASSETS` when both are there, else built by us. */
export async function serverBinaries(options: GoToolsOptions = {}): Promise<ServerBinaries> {
  const assets = contextOf(options).env.KUBEBUILDER_ASSETS;
  if (assets) {
    const ready = { etcd: join(assets, 'etcd'), kubeApiserver: join(assets, 'kube-apiserver') };
    if ((await isExecutable(ready.etcd)) && (await isExecutable(ready.kubeApiserver))) return ready;
  }
  const etcd = await goTool('etcd', options);
  return { etcd, kubeApiserver: await goTool('kube-apiserver', options) };
}

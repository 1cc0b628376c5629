import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { AgentSettings } from 'pod-status-manager/kubelet';
import { bool, configFlags, labels, type Parse } from './config-flags.ts';
import { ConfigError } from './config-values.ts';

export const help = `A node agent with the settings of the kubelet: it runs the pods of one node through a container runtime.

  --config FILE              settings: a file of kind KubeletConfiguration
  --config-dir FOLDER        more such files, NAME.conf: what they say counts more, in the order of their names
  --kubeconfig FILE          the cluster (default: that of KUBECONFIG, or ~/.kube/config)
  --bootstrap-kubeconfig FILE
                             asks for a client certificate where the kubeconfig is missing or its certificate has ended
  --cert-dir FOLDER          certificates and their keys (default: pki in the root folder)
  --hostname-override NAME   the name of the node (default: the machine's)
  --node-ip ADDRESS          the node's address, or one of each family, separated by a comma
  --cloud-provider external  a controller of the cloud initializes the node
  --node-labels LABELS       labels of a new node: a=b,c=d
  --root-dir FOLDER          what the agent keeps of pods (default /var/lib/kubelet)
  --image-credential-provider-config FILE
                             which programs give credentials for which images: a file or a folder of CredentialProviderConfig
  --image-credential-provider-bin-dir FOLDER
                             these programs
  --container-runtime-endpoint ADDRESS
                             the runtime's socket, such as unix:///run/containerd/containerd.sock
  --version                  the version of Kubernetes that the agent follows

Every other flag of the kubelet v1.36 that stands for a field of its file counts more than the files.`;

/** As the kubelet says it: installers look for it. */
export const versionText = 'Kubernetes v1.36.3';

/** What the command line says. */
export interface Flags {
  readonly config: string | undefined;
  readonly configDir: string | undefined;
  readonly kubeconfig: string | undefined;
  readonly bootstrapKubeconfig: string | undefined;
  readonly certificateFolder: string;
  readonly nodeName: string;
  readonly nodeIPs: readonly string[] | undefined;
  readonly nodeLabels: Readonly<Record<string, string>> | undefined;
  readonly externalCloudProvider: boolean;
  readonly rootDirectory: string | undefined;
  /** Where plugins for image credentials are configured, and where their programs are. */
  readonly imageCredentials: Pick<AgentSettings, 'imageCredentialProviderConfig' | 'imageCredentialProviderBinDir'>;
  /** What flags say that stand for fields of the file, by the names of these with the objects that they are in. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Flags that do nothing here, each with the reason. */
  readonly unused: readonly string[];
}

/** Flags of the program that are no fields of the file. */
const ownFlags = [
  ...['config', 'config-dir', 'kubeconfig', 'bootstrap-kubeconfig', 'cert-dir', 'hostname-override', 'node-ip', 'node-labels'],
  ...['cloud-provider', 'root-dir', 'image-credential-provider-config', 'image-credential-provider-bin-dir'],
] as const;

/** Flags that do nothing here, each with the reason. */
const unusedFlags: Readonly<Record<string, string>> = {
  'experimental-allocatable-ignore-eviction': 'the kubelet has given it up',
  'experimental-mounter-path': 'the kubelet has given it up',
  'maximum-dead-containers': 'containers that have ended are removed by the rules of the kubelet',
  'maximum-dead-containers-per-container': 'containers that have ended are removed by the rules of the kubelet',
  'minimum-container-ttl-duration': 'containers that have ended are removed by the rules of the kubelet',
  'pod-infra-container-image': 'the runtime chooses the image of its sandboxes',
  'runtime-cgroups': 'the agent measures no cgroup of the runtime',
};

/** Flags of the kubelet that the agent cannot follow, each with the reason. */
export const refusedFlags: Readonly<Record<string, string>> = {
  'exit-on-lock-contention': 'the agent has no lock file',
  'lock-file': 'the agent has no lock file',
};

type OwnFlag = (typeof ownFlags)[number];
type Given = Readonly<Partial<Record<OwnFlag, string>>>;

export const flagNames: readonly string[] = [
  ...ownFlags,
  ...configFlags.keys(),
  ...Object.keys(unusedFlags),
  ...Object.keys(refusedFlags),
];

/** `help` or `version` where that is asked for. Throws a {@link ConfigError}, naming the flag, for one that is not known and for a wrong value. */
export function parseFlags(args: readonly string[]): Flags | 'help' | 'version' {
  if (args.some((arg) => arg === '-h' || arg === '--help')) return 'help';
  if (args.includes('--version')) return 'version';
  let given: Given = {};
  let nodeLabels: Readonly<Record<string, string>> | undefined;
  const settings: Record<string, unknown> = {};
  const unused = new Set<string>();
  for (const { name, value } of namedValues(args)) {
    const field = configFlags.get(name);
    if (field !== undefined) settings[field.field] = field.again(settings[field.field], field.parse(value, `--${name}`));
    else if (name === 'node-labels') nodeLabels = { ...nodeLabels, ...labels(value, `--${name}`) };
    else if (isOwn(name)) given = { ...given, [name]: value };
    else if (Object.hasOwn(unusedFlags, name)) unused.add(`--${name}: ${unusedFlags[name]}`);
    else throw new ConfigError(`--${name} must be left out, since ${refusedFlags[name]}`);
  }
  const { 'cloud-provider': cloud = '', 'node-ip': nodeIP } = given;
  if (cloud !== '' && cloud !== 'external') {
    throw new ConfigError(`--cloud-provider must be empty or external, got ${JSON.stringify(cloud)}`);
  }
  return {
    config: given.config || undefined,
    configDir: given['config-dir'] || undefined,
    kubeconfig: given.kubeconfig ? resolve(given.kubeconfig) : undefined,
    bootstrapKubeconfig: given['bootstrap-kubeconfig'] ? resolve(given['bootstrap-kubeconfig']) : undefined,
    certificateFolder: resolve(given['cert-dir'] || join(given['root-dir'] || '/var/lib/kubelet', 'pki')),
    nodeName: (given['hostname-override'] || hostname()).trim().toLowerCase(),
    nodeIPs: nodeIP ? nodeIP.split(',').map((address) => address.trim()) : undefined,
    nodeLabels,
    externalCloudProvider: cloud === 'external',
    rootDirectory: given['root-dir'] || undefined,
    imageCredentials: imageCredentialsOf(given),
    settings,
    unused: [...unused],
  };
}

/** The agent says where one is without the other. */
function imageCredentialsOf(given: Given): Flags['imageCredentials'] {
  const { 'image-credential-provider-config': config, 'image-credential-provider-bin-dir': folder } = given;
  return {
    ...(config && { imageCredentialProviderConfig: resolve(config) }),
    ...(folder && { imageCredentialProviderBinDir: resolve(folder) }),
  };
}

/** Each flag with its value: `--name=value`, `--name value`, and for a boolean also `--name`. As in Go, `_` stands for `-`. */
function* namedValues(args: readonly string[]): Generator<{ readonly name: string; readonly value: string }> {
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const [, written = '', , inline] = /^-(-[^=]+|v)(=(.*))?$/s.exec(arg) ?? [];
    const name = written.replace(/^-/, '').replaceAll('_', '-');
    if (name === '') throw new ConfigError(`${JSON.stringify(arg)} is no flag, and the program takes nothing else`);
    if (!flagNames.includes(name)) throw new ConfigError(`--${name} is no flag of the kubelet v1.36`);
    const value = inline ?? (isBoolean(name) ? 'true' : rest.shift());
    if (value === undefined) throw new ConfigError(`--${name} needs a value`);
    yield { name, value };
  }
}

function isBoolean(name: string): boolean {
  const parse: Parse | undefined = configFlags.get(name)?.parse;
  return parse === bool || name === 'exit-on-lock-contention' || name === 'experimental-allocatable-ignore-eviction';
}

function isOwn(name: string): name is OwnFlag {
  return ownFlags.some((each) => each === name);
}

import { hostname } from 'node:os';
import { parseArgs } from 'node:util';

export const help = `A node agent with the settings of the kubelet: it runs the pods of one node through a container runtime.

  --config FILE              settings: a file of kind KubeletConfiguration
  --kubeconfig FILE          the cluster (default: that of KUBECONFIG, or ~/.kube/config)
  --hostname-override NAME   the name of the node (default: the machine's)
  --node-ip ADDRESS          the node's address, or one of each family, separated by a comma
  --node-labels LABELS       labels of a new node: a=b,c=d
  --root-dir FOLDER          what the agent keeps of pods (default /var/lib/kubelet)
  --container-runtime-endpoint ADDRESS
                             the runtime's socket, such as unix:///run/containerd/containerd.sock`;

const options = {
  config: { type: 'string' },
  kubeconfig: { type: 'string' },
  'hostname-override': { type: 'string' },
  'node-ip': { type: 'string' },
  'node-labels': { type: 'string' },
  'root-dir': { type: 'string' },
  'container-runtime-endpoint': { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** What the command line says. */
export interface Flags {
  readonly config: string | undefined;
  readonly kubeconfig: string | undefined;
  readonly nodeName: string;
  readonly nodeIPs: readonly string[] | undefined;
  readonly nodeLabels: Readonly<Record<string, string>> | undefined;
  readonly rootDirectory: string | undefined;
  readonly runtimeEndpoint: string | undefined;
}

/** `help` where it is asked for. Throws for a flag that is not known. */
export function parseFlags(args: readonly string[]): Flags | 'help' {
  const { values } = parseArgs({ args: [...args], options });
  if (values.help) return 'help';
  return {
    config: values.config,
    kubeconfig: values.kubeconfig,
    nodeName: (values['hostname-override'] ?? hostname()).trim().toLowerCase(),
    nodeIPs: values['node-ip']?.split(','),
    nodeLabels: labelsOf(values['node-labels']),
    rootDirectory: values['root-dir'],
    runtimeEndpoint: values['container-runtime-endpoint'],
  };
}

function labelsOf(text: string | undefined): Readonly<Record<string, string>> | undefined {
  if (text === undefined) return undefined;
  return Object.fromEntries(
    text.split(',').map((label) => {
      const [name = '', value = ''] = label.split('=');
      return [name, value];
    }),
  );
}

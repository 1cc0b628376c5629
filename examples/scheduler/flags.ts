import { parseArgs } from 'node:util';

export const help = `A scheduler in the place of kube-scheduler: it chooses nodes for pods.

  --kubeconfig FILE              the cluster (default: that of KUBECONFIG, or ~/.kube/config)
  --config FILE                  a file of kind KubeSchedulerConfiguration; a flag counts more than its member
  --policy-config-file FILE      predicates and priorities: a file of kind Policy, for the pods of default-scheduler
  --leader-elect=false           no other scheduler runs; none is waited for
  --leader-elect-resource-name NAME, --leader-elect-resource-namespace NAMESPACE
                                 the Lease (default kube-scheduler in kube-system)
  --kube-api-qps N, --kube-api-burst N
                                 the most requests that change pods, a second and at once; events the same (default: no limit)`;

const options = {
  kubeconfig: { type: 'string' },
  config: { type: 'string' },
  'policy-config-file': { type: 'string' },
  'leader-elect': { type: 'string' },
  'leader-elect-resource-name': { type: 'string' },
  'leader-elect-resource-namespace': { type: 'string' },
  'kube-api-qps': { type: 'string' },
  'kube-api-burst': { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** What the command line says. */
export interface Flags {
  readonly kubeconfig: string | undefined;
  readonly config: string | undefined;
  readonly policy: string | undefined;
  /** Undefined where it does not say. */
  readonly leaderElect: boolean | undefined;
  readonly lease: { readonly name?: string; readonly namespace?: string };
  readonly requestLimit: { readonly qps: number; readonly burst: number } | undefined;
}

/** `help` where it is asked for. Throws for a flag that is not known. */
export function parseFlags(args: readonly string[]): Flags | 'help' {
  const { values } = parseArgs({ args: [...args], options });
  if (values.help) return 'help';
  const leaderElect = values['leader-elect'];
  if (leaderElect !== undefined && !['true', 'false'].includes(leaderElect))
    throw new Error('--leader-elect must be true or false');
  const [name, namespace] = [values['leader-elect-resource-name'], values['leader-elect-resource-namespace']];
  const { 'kube-api-qps': qps, 'kube-api-burst': burst } = values;
  return {
    kubeconfig: values.kubeconfig,
    config: values.config,
    policy: values['policy-config-file'],
    leaderElect: leaderElect === undefined ? undefined : leaderElect === 'true',
    lease: { ...(name !== undefined && { name }), ...(namespace !== undefined && { namespace }) },
    requestLimit: qps === undefined && burst === undefined ? undefined : { qps: Number(qps ?? 50), burst: Number(burst ?? 100) },
  };
}

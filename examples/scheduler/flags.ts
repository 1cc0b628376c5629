import { parseArgs } from 'node:util';
import type { ConfigurationChanges, SchedulerServerOptions } from 'pod-status-manager/scheduler';
import { durationMs } from '../kubelet/durations.ts';

export const help = `A scheduler in the place of kube-scheduler: it chooses nodes for pods. The flags are those of kube-scheduler.

  --kubeconfig FILE              the cluster (default: that of KUBECONFIG, ~/.kube/config, or the cluster that this runs in)
  --config FILE                  a file of kind KubeSchedulerConfiguration; a flag counts more than its member
  --write-config-to FILE         writes the configuration with all its defaults to the file, and ends
  -v, --v N                      1: the log also has what an operator may want to know; 4: why something happened

  --leader-elect=false           no other scheduler runs; none is waited for
  --leader-elect-lease-duration TIME, --leader-elect-renew-deadline TIME, --leader-elect-retry-period TIME
                                 15s, 10s and 2s
  --leader-elect-resource-name NAME, --leader-elect-resource-namespace NAMESPACE, --leader-elect-resource-lock leases
                                 the Lease (default kube-scheduler in kube-system)
  --kube-api-qps N, --kube-api-burst N
                                 the most requests that change pods, a second and at once; events the same
                                 (default: those of the file, 50 and 100; without a file no limit)
  --pod-max-in-unschedulable-pods-duration TIME
                                 a pod that has waited so long for a change is tried again (default 5m)

  --bind-address ADDRESS, --secure-port PORT
                                 where /healthz, /readyz, /livez, /metrics and /configz are served over TLS
                                 (default: every address, 10259; port 0: nowhere)
  --tls-cert-file FILE, --tls-private-key-file FILE
                                 the certificate, read again when it changes (default: one that signs itself)
  --cert-dir FOLDER              where the certificate that signs itself is kept (default: nowhere)
  --client-ca-file FILE          who signs the certificates of clients (default: the ConfigMap
                                 extension-apiserver-authentication in kube-system says it)
  --authentication-kubeconfig FILE, --authorization-kubeconfig FILE
                                 who asks whose a token is, and who may do what (default: the scheduler itself)
  --authentication-skip-lookup   the ConfigMap is not looked at
  --authentication-tolerate-lookup-failure=false
                                 without the ConfigMap the scheduler does not start
  --authorization-always-allow-paths PATH,...
                                 what everyone may read (default /healthz,/readyz,/livez)
  --authentication-token-webhook-cache-ttl TIME, --authorization-webhook-cache-authorized-ttl TIME,
  --authorization-webhook-cache-unauthorized-ttl TIME
                                 how long answers count (default 10s)

  --profiling, --contention-profiling, --kube-api-content-type TYPE
                                 taken, without effect

  --policy-config-file FILE      predicates and priorities: a file of kind Policy, for the pods of default-scheduler
  --policy-configmap NAME, --policy-configmap-namespace NAMESPACE
                                 the same in the key policy.cfg of a ConfigMap (default in kube-system)`;

/** Flags that set a member of the configuration file, with the member. */
const members = {
  'leader-elect': 'leaderElection.leaderElect',
  'leader-elect-lease-duration': 'leaderElection.leaseDuration',
  'leader-elect-renew-deadline': 'leaderElection.renewDeadline',
  'leader-elect-retry-period': 'leaderElection.retryPeriod',
  'leader-elect-resource-lock': 'leaderElection.resourceLock',
  'leader-elect-resource-name': 'leaderElection.resourceName',
  'leader-elect-resource-namespace': 'leaderElection.resourceNamespace',
  kubeconfig: 'clientConnection.kubeconfig',
  'kube-api-qps': 'clientConnection.qps',
  'kube-api-burst': 'clientConnection.burst',
  'kube-api-content-type': 'clientConnection.contentType',
  profiling: 'enableProfiling',
  'contention-profiling': 'enableContentionProfiling',
} as const;
const booleans = [
  'leader-elect',
  'profiling',
  'contention-profiling',
  'authentication-skip-lookup',
  'authentication-tolerate-lookup-failure',
];
const numbers = ['kube-api-qps', 'kube-api-burst'];

const text = { type: 'string' } as const;
const options = {
  config: text,
  'write-config-to': text,
  v: { type: 'string', short: 'v' },
  'leader-elect': text,
  'leader-elect-lease-duration': text,
  'leader-elect-renew-deadline': text,
  'leader-elect-retry-period': text,
  'leader-elect-resource-lock': text,
  'leader-elect-resource-name': text,
  'leader-elect-resource-namespace': text,
  kubeconfig: text,
  'kube-api-qps': text,
  'kube-api-burst': text,
  'kube-api-content-type': text,
  profiling: text,
  'contention-profiling': text,
  'pod-max-in-unschedulable-pods-duration': text,
  'bind-address': text,
  'secure-port': text,
  'tls-cert-file': text,
  'tls-private-key-file': text,
  'cert-dir': text,
  'client-ca-file': text,
  'authentication-kubeconfig': text,
  'authorization-kubeconfig': text,
  'authentication-skip-lookup': text,
  'authentication-tolerate-lookup-failure': text,
  'authorization-always-allow-paths': text,
  'authentication-token-webhook-cache-ttl': text,
  'authorization-webhook-cache-authorized-ttl': text,
  'authorization-webhook-cache-unauthorized-ttl': text,
  'policy-config-file': text,
  'policy-configmap': text,
  'policy-configmap-namespace': text,
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** Every flag that is taken. */
export const flagNames: readonly string[] = Object.keys(options);

/** Where the policy is; undefined where the profiles say all. */
export type PolicyPlace = { readonly file: string } | { readonly name: string; readonly namespace: string } | undefined;

/** How the pages are served; undefined where they are not. */
export interface ServingFlags {
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly certDir: string | undefined;
  readonly clientCAFile: string | undefined;
  /** The kubeconfig of whoever asks for reviews. Default: the scheduler's own. */
  readonly reviewsKubeconfig: string | undefined;
  readonly skipsLookup: boolean;
  readonly toleratesLookupFailure: boolean;
  readonly options: Partial<SchedulerServerOptions>;
}

/** What the command line says. */
export interface Flags {
  readonly config: string | undefined;
  readonly writeConfigTo: string | undefined;
  readonly verbosity: number;
  /** Members of the configuration that flags set. */
  readonly changes: ConfigurationChanges;
  readonly podMaxInUnschedulableMs: number | undefined;
  readonly policy: PolicyPlace;
  readonly serving: ServingFlags | undefined;
}

/** `help` where it is asked for. Throws for a flag that is not known, and for a wrong value. */
export function parseFlags(args: readonly string[]): Flags | 'help' {
  const { values } = parseArgs({ args: args.map(withValue), options });
  if (values.help) return 'help';
  const changes: Record<string, string | number | boolean> = {};
  for (const [flag, member] of Object.entries(members)) {
    const given = Object.entries(values).find(([name]) => name === flag)?.[1];
    if (typeof given === 'string') changes[member] = flagValue(flag, given);
  }
  const waits = values['pod-max-in-unschedulable-pods-duration'];
  return {
    config: values.config || undefined,
    writeConfigTo: values['write-config-to'] || undefined,
    verbosity: wholeNumber('v', values.v ?? '0', 10),
    changes,
    podMaxInUnschedulableMs: waits === undefined ? undefined : time('pod-max-in-unschedulable-pods-duration', waits),
    policy: policyOf(values),
    serving: servingOf(values),
  };
}

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];

/** As in Go, a boolean flag alone says true, `_` stands for `-`, and `-v=1` is the same as `-v 1`. */
function withValue(arg: string): string {
  if (arg.startsWith('-v=')) return `-${arg}`;
  const [, name = '', rest = ''] = /^--([^=]+)(=.*)?$/s.exec(arg) ?? [];
  const known = name.replaceAll('_', '-');
  if (name === '') return arg;
  return booleans.includes(known) && rest === '' ? `--${known}=true` : `--${known}${rest}`;
}

function flagValue(flag: string, given: string): string | number | boolean {
  if (booleans.includes(flag)) return truth(flag, given);
  if (!numbers.includes(flag)) return given;
  if (given.trim() === '' || !Number.isFinite(Number(given))) throw new Error(`--${flag} must be a number, got ${given}`);
  return Number(given);
}

/** The words that Go takes. */
function truth(flag: string, given: string): boolean {
  if (/^(?:1|t|true)$/i.test(given)) return true;
  if (/^(?:0|f|false)$/i.test(given)) return false;
  throw new Error(`--${flag} must be true or false, got ${given}`);
}

function wholeNumber(flag: string, given: string, most: number): number {
  if (/^\d+$/.test(given) && Number(given) <= most) return Number(given);
  throw new Error(`--${flag} must be an integer from 0 to ${most}, got ${given}`);
}

function time(flag: string, given: string): number {
  const ms = durationMs(given);
  if (ms !== undefined && ms >= 0) return ms;
  throw new Error(`--${flag} must be a time such as 15s or 1m30s, got ${given}`);
}

function policyOf(values: Values): PolicyPlace {
  const { 'policy-config-file': file, 'policy-configmap': name, 'policy-configmap-namespace': namespace } = values;
  if (file && name) throw new Error('--policy-config-file and --policy-configmap name two policies: give one of them');
  if (file) return { file };
  if (name) return { name, namespace: namespace || 'kube-system' };
  if (namespace === undefined) return undefined;
  throw new Error('--policy-configmap-namespace needs --policy-configmap');
}

function servingOf(values: Values): ServingFlags | undefined {
  const port = wholeNumber('secure-port', values['secure-port'] ?? '10259', 65_535);
  const [certFile, keyFile] = [values['tls-cert-file'] || undefined, values['tls-private-key-file'] || undefined];
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new Error('--tls-cert-file and --tls-private-key-file must be given together');
  }
  const [asksWho, asksWhat] = [values['authentication-kubeconfig'], values['authorization-kubeconfig']];
  if (asksWho && asksWhat && asksWho !== asksWhat) {
    throw new Error('--authentication-kubeconfig and --authorization-kubeconfig must be the same file: one client asks for both');
  }
  if (port === 0) return undefined;
  const address = values['bind-address'];
  const paths = values['authorization-always-allow-paths'];
  const cache = (flag: keyof Values): number => time(flag, String(values[flag] ?? '10s'));
  return {
    certFile,
    keyFile,
    certDir: values['cert-dir'] || undefined,
    clientCAFile: values['client-ca-file'] || undefined,
    reviewsKubeconfig: asksWho || asksWhat || undefined,
    skipsLookup: truth('authentication-skip-lookup', values['authentication-skip-lookup'] ?? 'false'),
    toleratesLookupFailure: truth(
      'authentication-tolerate-lookup-failure',
      values['authentication-tolerate-lookup-failure'] ?? 'true',
    ),
    options: {
      port,
      ...(address && address !== '0.0.0.0' && { address }),
      ...(paths !== undefined && { alwaysAllowPaths: paths.split(',').filter((path) => path !== '') }),
      authenticationCacheMs: cache('authentication-token-webhook-cache-ttl'),
      authorizedCacheMs: cache('authorization-webhook-cache-authorized-ttl'),
      unauthorizedCacheMs: cache('authorization-webhook-cache-unauthorized-ttl'),
    },
  };
}

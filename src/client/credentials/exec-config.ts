import { readFileSync } from 'node:fs';
import type { Cluster } from '@kubernetes/client-node';
import { invalidOption, StatusManagerError } from '../../base/errors.ts';
import { oneOfOption } from '../../base/options.ts';

const apiVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'] as const;

/** The `exec` part of a kubeconfig's user, checked. */
export interface ExecConfig {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly apiVersion: (typeof apiVersions)[number];
  readonly installHint: string | undefined;
  /** The cluster to tell the plugin of; undefined unless `provideClusterInfo` is set. */
  readonly cluster: Cluster | undefined;
}

type Members = { readonly [key: string]: unknown };

/** Reads an `exec` part. Throws `ERR_INVALID_OPTION` for one that no plugin can be run by. Arguments and variables are never shown: they may be secret. */
export function readExecConfig(exec: unknown, cluster: Cluster): ExecConfig {
  if (typeof exec !== 'object' || exec === null) throw invalidOption('exec', 'an object', exec);
  const { command, apiVersion, args, env, installHint, interactiveMode, provideClusterInfo } = exec as Members;
  if (typeof command !== 'string' || command === '') throw invalidOption('exec.command', 'a non-empty string', command);
  oneOfOption('exec.interactiveMode', (interactiveMode ?? 'Never') as string, ['Never', 'IfAvailable']);
  return {
    command,
    apiVersion: oneOfOption('exec.apiVersion', apiVersion as ExecConfig['apiVersion'], apiVersions),
    args: readArgs(args ?? []),
    env: readEnv(env ?? []),
    installHint: typeof installHint === 'string' ? installHint : undefined,
    cluster: provideClusterInfo === true ? cluster : undefined,
  };
}

function readArgs(args: unknown): readonly string[] {
  if (Array.isArray(args) && args.every((arg) => typeof arg === 'string')) return args;
  throw secretOption('exec.args', 'a list of strings', args);
}

function readEnv(env: unknown): Readonly<Record<string, string>> {
  const isVariable = (item: unknown): item is { name: string; value: string } => {
    const { name, value } = (item ?? {}) as Members;
    return typeof name === 'string' && typeof value === 'string';
  };
  if (!Array.isArray(env) || !env.every(isVariable)) throw secretOption('exec.env', 'a list of names and values', env);
  return Object.fromEntries(env.map(({ name, value }) => [name, value]));
}

/** The error names the type alone: a value that stands where a list should may hold a secret. */
function secretOption(name: string, rule: string, value: unknown): StatusManagerError {
  const type = Array.isArray(value) ? 'array' : typeof value;
  return new StatusManagerError('ERR_INVALID_OPTION', `Expected \`${name}\` to be ${rule}, got (${type})`);
}

/** The value of `KUBERNETES_EXEC_INFO`: what a plugin is told of its task. Reads the CA's file, and throws what that throws. */
export function execInfo({ apiVersion, cluster }: ExecConfig): string {
  const spec = { interactive: false, ...(cluster !== undefined && { cluster: clusterInfo(cluster) }) };
  return JSON.stringify({ apiVersion, kind: 'ExecCredential', spec });
}

function clusterInfo({ server, tlsServerName, skipTLSVerify, caFile, caData, proxyUrl }: Cluster): object {
  return {
    server,
    ...(tlsServerName && { 'tls-server-name': tlsServerName }),
    ...(skipTLSVerify && { 'insecure-skip-tls-verify': true }),
    ...((caFile || caData) && { 'certificate-authority-data': caFile ? readFileSync(caFile, 'base64') : caData }),
    ...(proxyUrl && { 'proxy-url': proxyUrl }),
  };
}

import type { WirePod } from '../../src/index.ts';
import { managedHosts } from '../../src/kubelet/containers/pod-hosts.ts';
import { portMappings } from '../../src/kubelet/containers/runtime-names.ts';
import { credentialsFor } from '../../src/kubelet/images/keyring.ts';
import { containerEnvironment } from '../../src/node/environment/environment.ts';
import { startTexts } from '../../src/node/environment/start-texts.ts';
import { downwardFiles, ShownFields } from '../../src/node/pod-files/shown-fields.ts';
import { ConfigMapManager, objectBudget, SecretManager } from '../../src/object-managers.ts';
import { hostilePart } from '../../test/support/hostile/hostile-pods.ts';
import { barePod } from '../../test/support/pods.ts';
import type { Sized, SizedInput } from './measure.ts';
import { jsonBytes, listOf, received, textOf } from './texts.ts';

/** About what a pod may have in etcd. */
const largestPod = 1_500_000;
const never = () => Promise.reject(new Error('nothing is asked for'));
const silentTransport = { request: never, stream: never } as never;

/** A pod of the kind, as it comes from the server. */
function podOf(kind: string, size: number): WirePod {
  const { metadata, spec, container } = hostilePart(kind, size);
  const containers = [{ name: 'app', image: 'app:1', ...container }];
  return received(barePod({ metadata: { name: 'p', namespace: 'd', uid: 'u1', ...metadata }, spec: { containers, ...spec } }));
}

/** What is refused counts, too: the work until then is what is measured. */
function refusing(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
}

function environment(kind: string): SizedInput['make'] {
  return (size) => {
    const pod = podOf(kind, size);
    const container = pod.spec?.containers[0] as { name: string };
    const { missing, found } = { missing: async () => ({}), found: async () => ({ data: { k: 'dg==' } }) };
    const sources = {
      objects: { getSecret: found, getConfigMap: missing } as never,
      ...{ services: new Map<string, string>(), addresses: {} as never, allocatable: {}, isTurn: true },
      readVolumeFile: never,
    };
    const run = async (): Promise<void> => {
      await containerEnvironment(pod, container, sources).catch(() => {});
    };
    return { bytes: jsonBytes(pod), run };
  };
}

function startOf(kind: string): SizedInput['make'] {
  return (size) => {
    const pod = podOf(kind, size);
    const [container] = pod.spec?.containers ?? [];
    const run = (): void => refusing(() => startTexts(container as never, new Map(), true));
    return { bytes: jsonBytes(pod), run };
  };
}

function registered(kind: string, most: number): SizedInput['make'] {
  return (size) => {
    const pod = podOf(kind, size);
    const budget = objectBudget({ maxObjectsPerPod: most });
    const options = { transport: silentTransport, budget, strategy: 'cache', logger: null } as const;
    const makeManagers = () => [new SecretManager(options), new ConfigMapManager(options)];
    const run = (managers = makeManagers()) => {
      for (const manager of managers) manager.registerPod(pod);
      return managers;
    };
    return { bytes: jsonBytes(pod), run: () => run().forEach((manager) => void manager.unregisterPod(pod)), held: () => run() };
  };
}

function annotationFiles(count: number): Sized {
  // the server takes 256 KiB of annotations, each of which shows as up to four characters
  const annotations = Object.fromEntries(listOf(1000, (i) => [`a${i}`, '\u0001'.repeat(250)]));
  const pod: WirePod = { metadata: { name: 'p', annotations }, spec: { containers: [] } };
  const items = listOf(count, (i) => ({ path: `p${i}`, fieldRef: { fieldPath: `metadata.annotations['a${i % 1000}']` } }));
  const all = { path: 'all', fieldRef: { fieldPath: 'metadata.annotations' } };
  const made = () => downwardFiles({ fields: new ShownFields(pod, () => ({})) }, [...items, all], 0o644);
  return { bytes: jsonBytes(pod) + jsonBytes(items), run: () => refusing(made), held: made };
}

function resourceFiles(count: number): Sized {
  const containers = listOf(count, (i) => ({ name: `c${i}`, image: 'app:1', resources: { limits: { cpu: '1' } } }));
  const items = listOf(count, (i) => ({
    path: `p${i}`,
    resourceFieldRef: { containerName: `c${count - 1 - i}`, resource: 'limits.cpu' },
  }));
  const pod: WirePod = { metadata: { name: 'p' }, spec: { containers } };
  const run = () => downwardFiles({ fields: new ShownFields(pod, () => ({ cpu: '4' })) }, items, 0o644);
  return { bytes: jsonBytes(pod) + jsonBytes(items), run };
}

function labelFiles(count: number): Sized {
  const pod = podOf('labels', count * 80);
  const items = [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }];
  const run = () => downwardFiles({ fields: new ShownFields(pod, () => ({})) }, items, 0o644);
  return { bytes: jsonBytes(pod), run };
}

function resourceVariables(count: number): Sized {
  const containers = listOf(count, (i) => ({ name: `c${i}`, image: 'app:1', resources: { limits: { cpu: '1' } } }));
  const env = listOf(count, (i) => ({
    name: `E${i}`,
    valueFrom: { resourceFieldRef: { containerName: `c${count - 1 - i}`, resource: 'limits.cpu' } },
  }));
  const app = { name: 'app', image: 'app:1', env };
  const pod: WirePod = { metadata: { name: 'p' }, spec: { containers: [...containers, app] } };
  const sources = { objects: {}, services: new Map(), addresses: {}, allocatable: { cpu: '4' }, isTurn: true } as never;
  return { bytes: jsonBytes(pod), run: () => containerEnvironment(pod, app, sources) };
}

/** Sixteen secrets of the largest size, which is what the budget lets one pod have. */
function pullSecrets(size: number): Sized {
  const places = 200;
  const secrets = listOf(16, (number) => {
    const auths = Object.fromEntries(
      listOf(places, (i) => [
        `*.*.${textOf(40)}${number}-${i}*.example/a`,
        { auth: textOf(Math.ceil((size * 3) / 4 / 16 / places)) },
      ]),
    );
    const data = Buffer.from(JSON.stringify({ auths })).toString('base64');
    return { metadata: { name: `s${number}` }, type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': data } };
  });
  return { bytes: jsonBytes(secrets), run: () => refusing(() => credentialsFor('a.b.registry.example/a/app', secrets)) };
}

/** One host of as many parts as a secret has room for. */
function pullPattern(size: number): Sized {
  const auths = { [`${'*a.'.repeat(size / 4)}example/a`]: { username: 'u' }, [`${'*'.repeat(size / 4)}`]: { username: 'u' } };
  const data = { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') };
  const secrets = [{ metadata: { name: 's' }, type: 'kubernetes.io/dockerconfigjson', data }];
  return { bytes: jsonBytes(secrets), run: () => credentialsFor('a.b.registry.example/a/app', secrets) };
}

function hosts(size: number): Sized {
  const pod = podOf('host aliases', size);
  return { bytes: jsonBytes(pod), run: () => refusing(() => managedHosts(pod, ['10.0.0.1'], { hostname: 'p', domain: '' })) };
}

function ports(size: number): Sized {
  const pod = podOf('ports', size);
  return { bytes: jsonBytes(pod), run: () => portMappings(pod) };
}

export const startRows: readonly SizedInput[] = [
  { input: 'environment of variables', most: largestPod, make: environment('environment') },
  { input: 'environment of secrets', most: largestPod, make: environment('environment of secrets') },
  { input: 'expansions without end', most: largestPod, make: environment('expansions without end') },
  { input: 'variables of resources of other containers', most: 7500, make: resourceVariables },
  { input: 'open brackets in an argument', most: largestPod, make: startOf('open brackets') },
  { input: 'arguments', most: largestPod, make: startOf('arguments') },
  { input: 'pull secrets registered, over the budget', most: largestPod, make: registered('pull secrets', 256) },
  { input: 'pull secrets registered, no budget', most: largestPod, make: registered('pull secrets', 1_000_000) },
  { input: 'sources of a volume registered, no budget', most: largestPod, make: registered('sources of one volume', 1_000_000) },
  { input: 'downward API: large annotations', most: 14_000, make: annotationFiles },
  { input: 'downward API: all labels', most: 18_000, make: labelFiles },
  { input: 'downward API: resources of containers', most: 7500, make: resourceFiles },
  { input: 'host aliases', most: largestPod, make: hosts },
  { input: 'ports', most: largestPod, make: ports },
  { input: 'pull secrets of 16 MiB, one image', most: 16_000_000, make: pullSecrets },
  { input: 'one pattern in a pull secret', most: 1_000_000, make: pullPattern },
];

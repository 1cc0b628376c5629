/** What a user with rights in one namespace may put into a pod, as large as the server takes it. */

/** What a pod has beside a name and one container. */
export interface HostilePart {
  readonly metadata?: Record<string, unknown>;
  readonly spec?: Record<string, unknown>;
  readonly container?: Record<string, unknown>;
}

type Make = (size: number) => HostilePart;

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const text = (length: number): string => 'x'.repeat(length);

/** `size` is about the bytes of the whole. */
const kinds: Readonly<Record<string, Make>> = {
  'pull secrets': (size) => ({ spec: { imagePullSecrets: numbers(size / 18).map((i) => ({ name: `s${i}` })) } }),
  'secrets as volumes': (size) => ({
    spec: { volumes: numbers(size / 62).map((i) => ({ name: `v${i}`, secret: { secretName: `s${i}` } })) },
  }),
  'config maps as volumes': (size) => ({
    spec: { volumes: numbers(size / 62).map((i) => ({ name: `v${i}`, configMap: { name: `c${i}` } })) },
  }),
  'sources of one volume': (size) => ({
    spec: { volumes: [{ name: 'v', projected: { sources: numbers(size / 40).map((i) => ({ configMap: { name: `c${i}` } })) } }] },
  }),
  'items of a volume': (size) => ({
    spec: {
      volumes: [
        {
          name: 'v',
          downwardAPI: { items: numbers(size / 90).map((i) => ({ path: `p${i}`, fieldRef: { fieldPath: 'metadata.name' } })) },
        },
      ],
    },
  }),
  'environment of secrets': (size) => ({
    container: {
      env: numbers(size / 95).map((i) => ({
        name: `E${i}`,
        valueFrom: { secretKeyRef: { name: `s${i}`, key: 'k', optional: true } },
      })),
    },
  }),
  environment: (size) => ({ container: { env: numbers(size / 40).map((i) => ({ name: `E${i}`, value: `$(E${i - 1})` })) } }),
  'expansions without end': (size) => ({
    container: {
      env: [
        { name: 'A', value: text(1000) },
        { name: 'B', value: '$(A)'.repeat(size / 4) },
      ],
    },
  }),
  'open brackets': (size) => ({ container: { args: ['$('.repeat(size / 2)] } }),
  arguments: (size) => ({ container: { args: numbers(size / 9).map((i) => `a${i}`) } }),
  'a long argument': (size) => ({ container: { command: [text(size)] } }),
  'a long image': (size) => ({ container: { image: `r.example/${text(size)}` } }),
  containers: (size) => ({ spec: { containers: numbers(size / 250).map((i) => ({ name: `c${i}`, image: 'app:1' })) } }),
  'init containers': (size) => ({
    spec: { initContainers: numbers(size / 250).map((i) => ({ name: `i${i}`, image: 'app:1' })) },
  }),
  ports: (size) => ({
    container: { ports: numbers(Math.min(65_000, size / 60)).map((i) => ({ name: `p${i}`, containerPort: i + 1 })) },
  }),
  'mounts of one volume': (size) => ({
    spec: { volumes: [{ name: 'v', emptyDir: {} }] },
    container: { volumeMounts: numbers(size / 40).map((i) => ({ name: 'v', mountPath: `/m${i}` })) },
  }),
  tolerations: (size) => ({
    spec: { tolerations: numbers(size / 65).map((i) => ({ key: `k${i}`, operator: 'Exists', effect: 'NoExecute' })) },
  }),
  labels: (size) => ({
    metadata: { labels: Object.fromEntries(numbers(size / 80).map((i) => [`example.com/l${i}`, text(60)])) },
  }),
  annotations: () => ({ metadata: { annotations: { a: text(250_000) } } }),
  'a node selector': (size) => ({ spec: { nodeSelector: Object.fromEntries(numbers(size / 24).map((i) => [`k${i}`, 'v'])) } }),
  'readiness gates': (size) => ({
    spec: { readinessGates: numbers(size / 45).map((i) => ({ conditionType: `example.com/g${i}` })) },
  }),
  'host aliases': (size) => ({
    spec: { hostAliases: numbers(size / 60).map((i) => ({ ip: '10.0.0.1', hostnames: [`h${i}`] })) },
  }),
  groups: (size) => ({ spec: { securityContext: { supplementalGroups: numbers(size / 9) } } }),
  sysctls: (size) => ({
    spec: { securityContext: { sysctls: numbers(size / 60).map((i) => ({ name: `net.a${i}`, value: '1' })) } },
  }),
  'DNS options': (size) => ({ spec: { dnsConfig: { options: numbers(size / 30).map((i) => ({ name: `o${i}` })) } } }),
  'headers of a probe': (size) => ({
    container: {
      livenessProbe: { httpGet: { port: 80, httpHeaders: numbers(size / 40).map((i) => ({ name: `H-${i}`, value: 'v' })) } },
    },
  }),
  'a long hook': (size) => ({ container: { lifecycle: { preStop: { exec: { command: [text(size)] } } } } }),
  resources: (size) => ({
    container: { resources: { limits: Object.fromEntries(numbers(size / 60).map((i) => [`example.com/r${i}`, '1'])) } },
  }),
  'affinity terms': (size) => ({
    spec: {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: numbers(size / 100).map((i) => ({
              matchExpressions: [{ key: `k${i}`, operator: 'In', values: ['a', 'b'] }],
            })),
          },
        },
      },
    },
  }),
  'spread constraints': (size) => ({
    spec: {
      topologySpreadConstraints: numbers(size / 130).map((i) => ({
        topologyKey: `k${i}`,
        maxSkew: 1,
        whenUnsatisfiable: 'ScheduleAnyway',
      })),
    },
  }),
};

export const kindsOfHostilePods: readonly string[] = Object.keys(kinds);

export function hostilePart(kind: string, size: number): HostilePart {
  return (kinds[kind] as Make)(size);
}

/** A pod of the kind, for the node. */
export function hostilePod(kind: string, name: string, nodeName: string, size: number): object {
  return podOf(name, nodeName, hostilePart(kind, size));
}

export function ordinaryPod(name: string, nodeName: string): object {
  return podOf(name, nodeName, {});
}

function podOf(name: string, nodeName: string, { metadata = {}, spec = {}, container = {} }: HostilePart): object {
  return {
    metadata: { name, ...metadata },
    spec: {
      ...{
        nodeName,
        terminationGracePeriodSeconds: 0,
        tolerations: [{ operator: 'Exists' }],
        automountServiceAccountToken: false,
      },
      containers: [{ name: 'app', image: 'app:1', ...container }],
      ...spec,
    },
  };
}

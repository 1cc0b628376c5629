const zone = 'topology.kubernetes.io/zone';
const host = 'kubernetes.io/hostname';

function containers(cpu: string, memory?: string, more: object = {}): object[] {
  return [{ name: 'main', image: 'a:1', resources: { requests: { cpu, ...(memory && { memory }) } }, ...more }];
}

function selector(app: string) {
  return { matchLabels: { app } };
}

function ofTeam(team: string) {
  return { matchLabels: { team } };
}

function spread(topologyKey: string, whenUnsatisfiable: string, app: string, more: object = {}) {
  return { maxSkew: 1, topologyKey, whenUnsatisfiable, labelSelector: selector(app), ...more };
}

function nodeAffinity(terms: object): object {
  return { affinity: { nodeAffinity: terms } };
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';
const onSsd = { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] };

/** Pods that differ in all that the plugins look at. */
export const templates: readonly object[] = [
  { spec: { containers: containers('100m', '128Mi') } },
  { spec: { containers: containers('100m', '128Mi', { image: 'b' }) } },
  { spec: { containers: containers('700m') } },
  { spec: { containers: containers('200m') } },
  { spec: { containers: containers('100m'), resources: { requests: { cpu: '200m' } } } },
  { spec: { containers: containers('100m', '1Gi', { resources: { requests: { 'example.com/gpu': '1' } } }) } },
  { spec: { containers: containers('9') } },
  { spec: { containers: containers('100m', '64Mi', { ports: [{ containerPort: 80, hostPort: 80 }] }) } },
  { spec: { containers: containers('100m'), tolerations: [{ key: 'dedicated', operator: 'Exists' }] } },
  { spec: { containers: containers('100m'), tolerations: [{ operator: 'Exists' }] } },
  { spec: { containers: containers('100m'), tolerations: [{ key: 'dedicated', value: 'y', effect: 'NoSchedule' }] } },
  { spec: { containers: [...containers('100m'), { name: 'second', image: 'a:1' }] } },
  { spec: { containers: containers('100m'), nodeSelector: { disk: 'ssd' } } },
  { spec: { containers: containers('100m'), ...nodeAffinity({ [preferred]: [{ weight: 5, preference: onSsd }] }) } },
  {
    spec: {
      containers: containers('100m'),
      ...nodeAffinity({ [preferred]: [{ weight: 5, preference: { matchExpressions: [{}] } }] }),
    },
  },
  {
    spec: {
      containers: containers('100m'),
      ...nodeAffinity({
        [required]: { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1', 'n2'] }] }] },
      }),
    },
  },
  { metadata: { labels: { app: 'served' } }, spec: { containers: containers('50m') } },
  { metadata: { labels: { fickle: 'yes' } }, spec: { containers: containers('50m') } },
  { spec: { containers: containers('50m'), volumes: [{ name: 'disk', gcePersistentDisk: { pdName: 'one' } }] } },
  { spec: { containers: containers('50m'), volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'absent' } }] } },
  {
    metadata: { labels: { app: 'even' } },
    spec: {
      containers: containers('50m'),
      topologySpreadConstraints: [spread(zone, 'DoNotSchedule', 'even'), spread(host, 'ScheduleAnyway', 'even')],
    },
  },
  {
    metadata: { labels: { app: 'even' } },
    spec: {
      containers: containers('50m'),
      nodeSelector: { disk: 'ssd' },
      topologySpreadConstraints: [
        spread(host, 'DoNotSchedule', 'even', { nodeTaintsPolicy: 'Honor' }),
        spread(zone, 'ScheduleAnyway', 'even', { maxSkew: 2 }),
      ],
    },
  },
  {
    metadata: { labels: { app: 'apart' } },
    spec: {
      containers: containers('50m'),
      affinity: { podAntiAffinity: { [required]: [{ topologyKey: host, labelSelector: selector('apart') }] } },
    },
  },
  {
    metadata: { labels: { app: 'near' } },
    spec: {
      containers: containers('50m'),
      affinity: {
        podAffinity: { [required]: [{ topologyKey: zone, labelSelector: selector('near') }] },
        podAntiAffinity: { [required]: [{ topologyKey: host, labelSelector: selector('apart') }] },
      },
    },
  },
  {
    metadata: { labels: { app: 'liked' } },
    spec: {
      containers: containers('50m'),
      affinity: {
        podAffinity: { [preferred]: [{ weight: 3, podAffinityTerm: { topologyKey: zone, labelSelector: selector('liked') } }] },
        podAntiAffinity: {
          [preferred]: [{ weight: 7, podAffinityTerm: { topologyKey: host, labelSelector: selector('near') } }],
        },
      },
    },
  },
  {
    metadata: { labels: { app: 'even' } },
    spec: {
      containers: containers('20m'),
      topologySpreadConstraints: [spread(zone, 'DoNotSchedule', 'even', { maxSkew: 3, minDomains: 3 })],
    },
  },
  {
    metadata: { labels: { app: 'even' } },
    spec: {
      containers: containers('20m'),
      topologySpreadConstraints: [
        spread(zone, 'DoNotSchedule', 'even', { maxSkew: 4, matchLabelKeys: ['parity'], nodeAffinityPolicy: 'Ignore' }),
        spread('rack', 'DoNotSchedule', 'even', { maxSkew: 5, nodeTaintsPolicy: 'Honor' }),
      ],
    },
  },
  {
    metadata: { labels: { app: 'liked' } },
    spec: {
      containers: containers('20m'),
      affinity: {
        podAffinity: { [required]: [{ topologyKey: zone, labelSelector: selector('liked'), namespaceSelector: {} }] },
        podAntiAffinity: { [required]: [{ topologyKey: host, labelSelector: selector('near'), namespaceSelector: ofTeam('a') }] },
      },
    },
  },
  {
    metadata: { labels: { app: 'near' } },
    spec: {
      containers: containers('20m'),
      affinity: {
        podAntiAffinity: {
          [required]: [{ topologyKey: 'rack', labelSelector: selector('apart'), namespaces: ['e'] }],
          [preferred]: [
            {
              weight: 9,
              podAffinityTerm: { topologyKey: zone, labelSelector: selector('near'), namespaceSelector: ofTeam('b') },
            },
            {
              weight: 4,
              podAffinityTerm: { topologyKey: 'rack', labelSelector: selector('even'), mismatchLabelKeys: ['parity'] },
            },
          ],
        },
      },
    },
  },
  {
    metadata: { labels: { app: 'even' } },
    spec: {
      containers: containers('20m'),
      topologySpreadConstraints: [spread('rack', 'DoNotSchedule', 'even', { maxSkew: 2 })],
    },
  },
];

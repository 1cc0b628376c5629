// The types of kube-scheduler/config/v1 and component-base/config/v1alpha1, v0.36.3.

import type { Member, ObjectShape, ValueShape } from './typed-members.ts';

const always = (shape: ValueShape): Member => ({ shape, written: 'always' });
const set = (shape: ValueShape): Member => ({ shape, written: 'set' });
const filled = (shape: ValueShape): Member => ({ shape, written: 'filled' });
const object = (members: Readonly<Record<string, Member>>): ObjectShape => ({ members });
const listOf = (items: ValueShape): ValueShape => ({ items });

export const configurationVersion = 'kubescheduler.config.k8s.io/v1';
export const configurationKind = 'KubeSchedulerConfiguration';

const head = { apiVersion: filled('text'), kind: filled('text') };

const plugin = object({ name: always('text'), weight: set('int32') });
const pluginSet = object({ enabled: filled(listOf(plugin)), disabled: filled(listOf(plugin)) });

/** The points at which a profile names plugins, in the order in which they are written. */
export const pluginSets = [
  ...['preEnqueue', 'queueSort', 'preFilter', 'filter', 'postFilter', 'preScore', 'score', 'reserve'],
  ...['permit', 'preBind', 'bind', 'postBind', 'multiPoint', 'placementGenerate', 'placementScore'],
];

const profile = object({
  schedulerName: set('text'),
  percentageOfNodesToScore: set('int32'),
  plugins: set(object(Object.fromEntries(pluginSets.map((point) => [point, always(pluginSet)])))),
  pluginConfig: filled(listOf(object({ name: always('text'), args: set('raw') }))),
});

/** A whole file. */
export const configurationShape = object({
  ...head,
  parallelism: set('int32'),
  leaderElection: always(
    object({
      leaderElect: set('boolean'),
      leaseDuration: always('time'),
      renewDeadline: always('time'),
      retryPeriod: always('time'),
      resourceLock: always('text'),
      resourceName: always('text'),
      resourceNamespace: always('text'),
    }),
  ),
  clientConnection: always(
    object({
      kubeconfig: always('text'),
      acceptContentTypes: always('text'),
      contentType: always('text'),
      qps: always('float32'),
      burst: always('int32'),
    }),
  ),
  enableProfiling: set('boolean'),
  enableContentionProfiling: set('boolean'),
  percentageOfNodesToScore: set('int32'),
  podInitialBackoffSeconds: set('int64'),
  podMaxBackoffSeconds: set('int64'),
  profiles: filled(listOf(profile)),
  // what an extender holds is checked by its own rules
  extenders: filled(listOf('any')),
  delayCacheUntilActive: filled('boolean'),
});

const resources = listOf(object({ name: always('text'), weight: filled('int64') }));
const shape = listOf(object({ utilization: always('int32'), score: always('int32') }));
const requirements = filled(listOf(object({ key: always('text'), operator: always('text'), values: filled(listOf('text')) })));
const nodeSelectorTerm = object({ matchExpressions: requirements, matchFields: requirements });
const nodeAffinity = object({
  requiredDuringSchedulingIgnoredDuringExecution: set(object({ nodeSelectorTerms: always(listOf(nodeSelectorTerm)) })),
  preferredDuringSchedulingIgnoredDuringExecution: filled(
    listOf(object({ weight: always('int32'), preference: always(nodeSelectorTerm) })),
  ),
});
const spreadConstraint = object({
  maxSkew: always('int32'),
  topologyKey: always('text'),
  whenUnsatisfiable: always('text'),
  // refused whatever it holds: a selector is deduced for each pod
  labelSelector: set('any'),
  minDomains: set('int32'),
  nodeAffinityPolicy: set('text'),
  nodeTaintsPolicy: set('text'),
  matchLabelKeys: filled(listOf('text')),
});

/** The arguments of the plugins that have some, by the plugin's name. The arguments of any other plugin may be anything. */
export const argsShapes: Readonly<Record<string, ObjectShape>> = {
  DefaultPreemption: object({ ...head, minCandidateNodesPercentage: set('int32'), minCandidateNodesAbsolute: set('int32') }),
  DynamicResources: object({ ...head, filterTimeout: set('time'), bindingTimeout: set('time') }),
  InterPodAffinity: object({
    ...head,
    hardPodAffinityWeight: set('int32'),
    ignorePreferredTermsOfExistingPods: always('boolean'),
  }),
  NodeAffinity: object({ ...head, addedAffinity: set(nodeAffinity) }),
  NodeResourcesBalancedAllocation: object({ ...head, resources: filled(resources) }),
  NodeResourcesFit: object({
    ...head,
    ignoredResources: filled(listOf('text')),
    ignoredResourceGroups: filled(listOf('text')),
    scoringStrategy: set(
      object({
        type: filled('text'),
        resources: filled(resources),
        requestedToCapacityRatio: set(object({ shape: filled(shape) })),
      }),
    ),
  }),
  PodTopologySpread: object({ ...head, defaultConstraints: filled(listOf(spreadConstraint)), defaultingType: filled('text') }),
  VolumeBinding: object({ ...head, bindTimeoutSeconds: set('int64'), shape: set(shape) }),
};

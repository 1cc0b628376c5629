import { type ApiResource, apiResource, resources } from '../../client/resources/api-resource.ts';
import { pathSegmentProblem } from '../objects/api-names.ts';
import { clusterFieldsBeside, objectAt, textAt } from '../objects/selectors.ts';
import type { ObjectRules } from '../objects/store-types.ts';
import { configMapRules, secretRules } from './data-objects.ts';
import { deviceClaimTemplateTraits, deviceClaimTraits } from './device-claim-rules.ts';
import { eventRules } from './events.ts';
import { serviceAccountSchema } from './kind-patch-schemas.ts';
import { nodeRules } from './node-rules.ts';
import { type KindTraits, leaseRules, namespaceRules, plainRules } from './plain-rules.ts';
import { reviewKinds } from './review-kinds.ts';
import { serviceRules } from './service-rules.ts';

/** A resource that a server has, with its rules. */
export interface KnownKind {
  readonly resource: ApiResource;
  readonly rules: ObjectRules;
}

type Traits = Omit<KindTraits, 'kind' | 'apiVersion'>;

/** The traits of a workload: its controller writes the status and compares generations. */
const workload: Traits = { hasStatus: true, dropsNewStatus: true, countsGeneration: true, blank: { spec: {}, status: {} } };
const specOnly: Traits = { blank: { spec: {} } };
const specAndStatus: Traits = { hasStatus: true, blank: { spec: {}, status: {} } };

function plain(resource: ApiResource, traits: Traits = {}): KnownKind {
  const { group, version, kind } = resource;
  return { resource, rules: plainRules({ kind, apiVersion: group === '' ? version : `${group}/${version}`, ...traits }) };
}

/** `scope` is `ns` for a resource of namespaces, and `cluster` for one of the cluster. */
function named(group: string, scope: 'ns' | 'cluster', resource: string, kind: string, traits: Traits = {}): KnownKind {
  return plain(apiResource({ group, version: 'v1', resource, kind, namespaced: scope === 'ns' }), traits);
}

/**
 * The resources of a kube-apiserver v1.36 but pods. Secrets, config maps, nodes, leases, namespaces, events and services
 * have the rules of a kube-apiserver; the others have those that all objects have, and their contents are stored as they are given.
 */
export function knownKinds(): readonly KnownKind[] {
  return [
    { resource: resources.secrets, rules: secretRules },
    { resource: resources.configMaps, rules: configMapRules },
    { resource: resources.nodes, rules: nodeRules },
    { resource: resources.namespaces, rules: namespaceRules },
    { resource: resources.leases, rules: leaseRules },
    { resource: resources.services, rules: serviceRules },
    { resource: resources.events, rules: eventRules },
    plain(resources.serviceAccounts, { returnsDeleted: true, patchSchema: serviceAccountSchema }),
    plain(resources.persistentVolumes, { ...specAndStatus, returnsDeleted: true }),
    plain(resources.persistentVolumeClaims, { ...specAndStatus, returnsDeleted: true }),
    plain(resources.runtimeClasses, { createsOnUpdate: true, updatesNeedVersion: true, blank: { handler: '' } }),
    plain(resources.csiDrivers, { ...specOnly, returnsDeleted: true, updatesNeedVersion: true }),
    ...coreKinds(),
    ...groupKinds(),
    ...reviewKinds.map((resource) => plain(resource)),
  ];
}

function coreKinds(): KnownKind[] {
  return [
    named('', 'ns', 'endpoints', 'Endpoints', { createsOnUpdate: true }),
    named('', 'ns', 'limitranges', 'LimitRange', { ...specOnly, createsOnUpdate: true }),
    named('', 'ns', 'podtemplates', 'PodTemplate', { returnsDeleted: true }),
    named('', 'ns', 'replicationcontrollers', 'ReplicationController', workload),
    named('', 'ns', 'resourcequotas', 'ResourceQuota', { ...specAndStatus, returnsDeleted: true }),
  ];
}

const sliceFields = clusterFieldsBeside({
  'spec.nodeName': (slice) => textAt(objectAt(slice, 'spec'), 'nodeName'),
  'spec.driver': (slice) => textAt(objectAt(slice, 'spec'), 'driver'),
});

function groupKinds(): KnownKind[] {
  const [apps, batch, rbac] = ['apps', 'batch', 'rbac.authorization.k8s.io'];
  const [storage, networking, dra] = ['storage.k8s.io', 'networking.k8s.io', 'resource.k8s.io'];
  const rights: Traits = { createsOnUpdate: true, nameProblem: pathSegmentProblem };
  const versioned: Traits = { returnsDeleted: true, updatesNeedVersion: true };
  return [
    named(apps, 'ns', 'deployments', 'Deployment', workload),
    named(apps, 'ns', 'replicasets', 'ReplicaSet', workload),
    named(apps, 'ns', 'statefulsets', 'StatefulSet', workload),
    named(apps, 'ns', 'daemonsets', 'DaemonSet', workload),
    named(apps, 'ns', 'controllerrevisions', 'ControllerRevision', { blank: { revision: 0 } }),
    named(batch, 'ns', 'jobs', 'Job', workload),
    named(batch, 'ns', 'cronjobs', 'CronJob', workload),
    named('certificates.k8s.io', 'cluster', 'certificatesigningrequests', 'CertificateSigningRequest', specAndStatus),
    named('discovery.k8s.io', 'ns', 'endpointslices', 'EndpointSlice', { countsGeneration: true }),
    named('policy', 'ns', 'poddisruptionbudgets', 'PodDisruptionBudget', { ...workload, updatesNeedVersion: true }),
    named('scheduling.k8s.io', 'cluster', 'priorityclasses', 'PriorityClass', { countsGeneration: true }),
    named(networking, 'ns', 'ingresses', 'Ingress', workload),
    named(networking, 'cluster', 'ingressclasses', 'IngressClass', { ...specOnly, countsGeneration: true }),
    named(networking, 'ns', 'networkpolicies', 'NetworkPolicy', { ...specOnly, countsGeneration: true }),
    named(rbac, 'ns', 'roles', 'Role', rights),
    named(rbac, 'ns', 'rolebindings', 'RoleBinding', rights),
    named(rbac, 'cluster', 'clusterroles', 'ClusterRole', rights),
    named(rbac, 'cluster', 'clusterrolebindings', 'ClusterRoleBinding', rights),
    named(storage, 'cluster', 'storageclasses', 'StorageClass', { returnsDeleted: true }),
    named(storage, 'cluster', 'csinodes', 'CSINode', { ...specOnly, ...versioned }),
    named(storage, 'cluster', 'volumeattachments', 'VolumeAttachment', { ...specAndStatus, ...versioned }),
    named(storage, 'ns', 'csistoragecapacities', 'CSIStorageCapacity', { updatesNeedVersion: true }),
    named(dra, 'ns', 'resourceclaims', 'ResourceClaim', { ...specAndStatus, ...deviceClaimTraits, returnsDeleted: true }),
    named(dra, 'ns', 'resourceclaimtemplates', 'ResourceClaimTemplate', { ...deviceClaimTemplateTraits, returnsDeleted: true }),
    named(dra, 'cluster', 'resourceslices', 'ResourceSlice', { ...specOnly, returnsDeleted: true, fields: sliceFields }),
    named(dra, 'cluster', 'deviceclasses', 'DeviceClass', { ...specOnly, returnsDeleted: true }),
  ];
}

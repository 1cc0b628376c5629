import type { JsonObject } from '../../../src/api/json/types.ts';
import { ContainerProvider, type PodProvider, type RunContainer } from '../../../src/node.ts';
import { pollUntil } from '../../support/poll-until.ts';
import { type NodeRow, refusal } from './node-rows.ts';
import type { StuckNode } from './stuck-node.ts';

const notWritten = { message: 'a pod could not be brought up to date' };
const providerFailed = { message: 'the provider failed; it is called again later' };
const notSynced = { message: 'a pod was not synced and will be synced again' };
const repeated = 'Mend what the provider names; the call is repeated by itself.';
const sayNothing = 'See why the provider cannot say how the pod is; the status that was told last stays meanwhile.';
const endsAgain = 'See why the container ends: what it wrote last, where it runs, says more. It is started again and again.';
const status = /PATCH .*\/pods\/web\/status/;

async function refuseStatus(stuck: StuckNode, fault: Parameters<StuckNode['proxy']['fail']>[1]): Promise<void> {
  stuck.proxy.fail(status, fault);
  await stuck.createPod();
}

const fails = (words: string) => (): never => {
  throw new Error(words);
};
const hangs = (): Promise<never> => new Promise(() => {});

/** Ways in which a pod's status does not get to the apiserver. */
export const statusRows: readonly NodeRow[] = [
  {
    id: 'forbidden-status',
    heals: true,
    title: 'no right to write the status of pods (403)',
    about: 'pod',
    kind: 'forbidden',
    words: 'cannot patch resource "pods/status"',
    log: notWritten,
    help: "Give this agent's user the right that is missing: the message names both. deploy/rbac.yaml has all that an agent needs.",
    arrange: (stuck) =>
      refuseStatus(stuck, refusal(403, 'Forbidden', 'pods "web" is forbidden: User "agent" cannot patch resource "pods/status"')),
  },
  {
    id: 'status-conflict',
    heals: true,
    title: 'every write of a status is a conflict (409)',
    about: 'pod',
    kind: 'conflict',
    words: 'the object has been modified',
    log: notWritten,
    help: 'Look for another writer of the object: its managedFields name all of them.',
    arrange: (stuck) => refuseStatus(stuck, refusal(409, 'Conflict', 'the object has been modified; please apply your changes')),
  },
  {
    id: 'status-invalid',
    title: 'the apiserver refuses a status as invalid (422)',
    about: 'pod',
    kind: 'quarantined',
    words: 'status.phase: Unsupported value',
    log: notWritten,
    help: 'Let the agent, or its provider, give a status that the apiserver takes: the message names what it refuses.',
    retried: false,
    arrange: (stuck) => refuseStatus(stuck, refusal(422, 'Invalid', 'Pod "web" is invalid: status.phase: Unsupported value')),
  },
  {
    id: 'status-throttled',
    title: 'the apiserver has no room for writes of statuses (429)',
    about: 'pod',
    kind: 'throttled',
    words: 'try again later',
    log: notWritten,
    help: 'Give the agent a priority level of its own, as deploy/flow-schema.yaml does.',
    arrange: (stuck) => refuseStatus(stuck, refusal(429, 'TooManyRequests', 'too many requests, try again later', 5)),
  },
  {
    id: 'status-credentials',
    title: 'the credentials have expired while the agent runs (401)',
    about: 'pod',
    kind: 'unauthorized',
    words: 'the token has expired',
    log: notWritten,
    help: 'Renew the credentials: the apiserver does not take those of the kubeconfig.',
    arrange: (stuck) => refuseStatus(stuck, refusal(401, 'Unauthorized', 'the token has expired')),
  },
  {
    id: 'status-server-fails',
    heals: true,
    title: 'the apiserver fails at writes of statuses (500)',
    about: 'pod',
    kind: 'unavailable',
    words: 'etcdserver: request timed out',
    log: notWritten,
    help: 'See whether the apiserver is up, and whether what lies between lets requests through.',
    arrange: (stuck) => refuseStatus(stuck, refusal(500, 'InternalError', 'etcdserver: request timed out')),
  },
  {
    id: 'status-webhook',
    heals: true,
    title: 'an admission webhook refuses the status (403 with its words)',
    about: 'pod',
    kind: 'admission-denied',
    words: 'admission webhook "policy.example.com" denied the request',
    log: notWritten,
    help: 'Ask who runs the admission webhook that the message names: it refuses this write, and no right is missing.',
    arrange: (stuck) =>
      refuseStatus(stuck, refusal(403, 'Forbidden', 'admission webhook "policy.example.com" denied the request: no')),
  },
  {
    id: 'status-silent',
    title: 'the apiserver does not answer writes of statuses',
    about: 'pod',
    kind: 'timeout',
    words: 'within 300 ms',
    log: notWritten,
    help: 'See whether the apiserver is overloaded, or the network drops packets: it was reached, and gave no answer.',
    options: { statusManager: { requestTimeoutMs: 300 } },
    arrange: (stuck) => refuseStatus(stuck, { kind: 'silence' }),
  },
];

const waits = { message: 'a pod waits for what it refers to' };

/** A container that needs this value. */
const needs = (valueFrom: JsonObject): JsonObject => ({
  containers: [{ name: 'main', image: 'example.test/main:1', env: [{ name: 'A', valueFrom }] }],
});

/** Makes what the pod waits for. */
async function make(stuck: StuckNode, plural: string, body: JsonObject): Promise<void> {
  await stuck.server.admin.send('POST', `/api/v1/namespaces/${stuck.namespace}/${plural}`, { body });
}

/** Ways in which a provider keeps a pod from running, or from ending. */
export const providerRows: readonly NodeRow[] = [
  {
    id: 'provided-secret',
    title: 'a variable of a pod with a provider is out of a secret that is not there',
    about: 'pod',
    kind: 'secret-missing',
    words: 'secret "absent-secret" not found',
    log: waits,
    event: { reason: 'MandatorySecretNotFound' },
    help: 'Create the secret NAMESPACE/absent-secret, or mark it optional.',
    arrange: async (stuck) => void (await stuck.createPod(needs({ secretKeyRef: { name: 'absent-secret', key: 'k' } }))),
    mend: (stuck) => make(stuck, 'secrets', { metadata: { name: 'absent-secret' }, data: { k: 'dg==' } }),
  },
  {
    id: 'provided-config-key',
    title: 'a variable of a pod with a provider is out of a config map that lacks the key',
    about: 'pod',
    kind: 'key-missing',
    words: "couldn't find key absent in ConfigMap",
    log: waits,
    event: { reason: 'MandatoryConfigMapKeyNotFound' },
    help: 'Add the key absent to the config map NAMESPACE/settings, or mark it optional.',
    arrange: async (stuck) => {
      await make(stuck, 'configmaps', { metadata: { name: 'settings' }, data: {} });
      await stuck.createPod(needs({ configMapKeyRef: { name: 'settings', key: 'absent' } }));
    },
  },
  {
    id: 'provided-volume',
    title: 'a volume of a pod with a provider is a config map that is not there',
    about: 'pod',
    kind: 'config-map-missing',
    words: 'configmap "absent-map" not found',
    log: waits,
    event: { reason: 'FailedMount' },
    help: 'Create the config map NAMESPACE/absent-map, or mark it optional.',
    arrange: async (stuck) => {
      const volumeMounts = [{ name: 'files', mountPath: '/files' }];
      const containers = [{ name: 'main', image: 'example.test/main:1', volumeMounts }];
      await stuck.createPod({ containers, volumes: [{ name: 'files', configMap: { name: 'absent-map' } }] });
    },
    mend: (stuck) => make(stuck, 'configmaps', { metadata: { name: 'absent-map' }, data: { k: 'v' } }),
  },
  {
    id: 'provided-services',
    heals: true,
    title: 'no right to list services (403)',
    about: 'pod',
    kind: 'services-unread',
    words: 'cannot list resource "services"',
    log: waits,
    event: { reason: 'Failed' },
    help: 'Let the node list and watch services (deploy/rbac.yaml).',
    arrange: async (stuck) => {
      stuck.proxy.fail(
        /\/services/,
        refusal(403, 'Forbidden', 'services is forbidden: User "agent" cannot list resource "services"'),
      );
      await stuck.createPod();
    },
  },
  {
    id: 'admission',
    title: '`admitPod` gives no answer: the pod is Pending',
    about: 'pod',
    kind: 'admission',
    words: 'the quota service is away',
    log: { message: 'admitPod failed; the pod waits' },
    event: { reason: 'FailedAdmission' },
    help: 'See why the function `admitPod` gives no answer: the pod waits until it has one, and the function is asked again by itself.',
    options: { admitPod: fails('the quota service is away') },
    arrange: async (stuck) => void (await stuck.createPod()),
  },
  {
    id: 'create-pod',
    title: '`createPod` of the provider fails',
    about: 'pod',
    kind: 'create-pod',
    words: 'quota exceeded',
    log: providerFailed,
    event: { reason: 'ProviderCreateFailed' },
    help: repeated,
    options: { provider: { createPod: fails('quota exceeded') } },
    arrange: async (stuck) => void (await stuck.createPod()),
  },
  {
    id: 'create-pod-hangs',
    title: '`createPod` of the provider does not return',
    about: 'pod',
    kind: 'create-pod',
    words: 'createPod() has not settled within 1 s',
    logWords: false,
    log: { message: 'a call of the provider takes too long; its signal is aborted' },
    event: { reason: 'ProviderCreateFailed' },
    help: 'Let createPod heed its signal, so that it settles once that aborts, and see what it waits for.',
    retried: false,
    options: { provider: { createPod: hangs }, pods: { changeTimeoutMs: 1000 } },
    arrange: async (stuck) => void (await stuck.createPod()),
  },
  {
    id: 'update-pod',
    title: '`updatePod` of the provider fails',
    about: 'pod',
    kind: 'update-pod',
    words: 'this machine cannot change',
    log: providerFailed,
    event: { reason: 'ProviderUpdateFailed' },
    help: repeated,
    options: { provider: { updatePod: fails('this machine cannot change') } },
    arrange: async (stuck) => {
      await stuck.createPod();
      await pollUntil('the pod runs', () => stuck.node.statusManager.snapshot().pods[0]?.podPhase === 'Running');
      await stuck.server.admin.patch(
        `/api/v1/namespaces/${stuck.namespace}/pods/web`,
        { metadata: { labels: { a: 'b' } } },
        'merge',
      );
    },
  },
  {
    id: 'get-pod-status',
    title: '`getPodStatus` of the provider fails: the pod has no status',
    about: 'pod',
    kind: 'get-pod-status',
    words: 'cloud: 500',
    log: notSynced,
    event: { reason: 'ProviderStatusFailed' },
    help: sayNothing,
    options: { provider: { getPodStatus: fails('cloud: 500') } },
    arrange: async (stuck) => void (await stuck.createPod()),
  },
  {
    id: 'get-pod-status-hangs',
    title: '`getPodStatus` of the provider does not return',
    about: 'pod',
    kind: 'get-pod-status',
    words: 'getPodStatus() gave no answer within 300 ms',
    log: notSynced,
    event: { reason: 'ProviderStatusFailed' },
    help: sayNothing,
    options: { provider: { getPodStatus: hangs }, pods: { callTimeoutMs: 300 } },
    arrange: async (stuck) => void (await stuck.createPod()),
  },
  {
    id: 'get-pod-status-nonsense',
    title: '`getPodStatus` of the provider answers what is no status',
    about: 'pod',
    kind: 'get-pod-status',
    words: 'is refused',
    log: notSynced,
    event: { reason: 'ProviderStatusFailed' },
    help: sayNothing,
    options: { provider: { getPodStatus: (() => 'Running') as never } },
    arrange: async (stuck) => void (await stuck.createPod()),
  },
  {
    id: 'delete-pod',
    title: '`deletePod` of the provider fails: the pod stays Terminating',
    about: 'pod',
    kind: 'delete-pod',
    words: 'the disk is still attached',
    log: { message: 'the provider did not delete a pod; it is asked again later' },
    event: { reason: 'ProviderDeleteFailed' },
    help: 'Free what the provider holds of the pod: it stays on the apiserver until then, and the call is repeated by itself.',
    options: { provider: { deletePod: fails('the disk is still attached') } },
    arrange: async (stuck) => {
      await stuck.createPod();
      await pollUntil('the pod runs', () => stuck.node.statusManager.snapshot().pods[0]?.podPhase === 'Running');
      await stuck.deletePod(1);
    },
  },
  {
    id: 'pod-lost',
    title: 'the provider no longer has a pod that ran',
    about: 'pod',
    kind: 'pod-lost',
    words: 'The provider no longer has the pod',
    log: { message: 'the provider no longer has a pod that ran' },
    logWords: false,
    event: { reason: 'ProviderPodLost' },
    help: 'See what became of it where the provider runs its pods; a controller, if the pod has one, makes another pod.',
    retried: false,
    options: {
      pods: { missingAfterMs: 0, pollIntervalMs: 100 },
      provider: lossy(),
    },
    arrange: async (stuck) => void (await stuck.createPod({ restartPolicy: 'Never' })),
  },
  {
    id: 'container-fails',
    title: 'a container of a `ContainerProvider` fails again and again',
    about: 'pod',
    kind: 'crash-loop-back-off',
    words: 'no disk',
    log: { message: 'a container has ended and will be started again' },
    endTold: false,
    event: { reason: 'BackOff' },
    eventWords: false,
    help: endsAgain,
    options: { provider: runBy(fails('no disk')) },
    arrange: async (stuck) => void (await stuck.createPod()),
  },
  {
    id: 'container-waits',
    title: 'the provider says that a container ends again and again',
    about: 'pod',
    kind: 'crash-loop-back-off',
    words: 'back-off 40s restarting failed container',
    help: endsAgain,
    retried: false,
    options: {
      provider: {
        getPodStatus: () => ({
          phase: 'Running',
          containerStatuses: [
            {
              ...{ name: 'main', image: 'i', imageID: '', ready: false, restartCount: 3 },
              state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting failed container' } },
            },
          ],
        }),
      },
    },
    arrange: async (stuck) => void (await stuck.createPod()),
  },
  {
    id: 'refused-by-agent',
    title: "the agent's own `admitPod` refuses a pod",
    about: 'pod',
    kind: 'refused',
    words: 'no pods after six',
    log: { message: 'a pod may not run on this node' },
    event: { reason: 'AfterHours' },
    help: undefined,
    retried: false,
    options: { admitPod: () => ({ admit: false, reason: 'AfterHours', message: 'no pods after six' }) },
    arrange: async (stuck) => void (await stuck.createPod()),
  },
];

/** A provider that runs each container by this function. */
function runBy(runContainer: RunContainer): PodProvider {
  const provider = new ContainerProvider({ runContainer });
  return {
    createPod: (pod) => provider.createPod(pod),
    deletePod: (pod, call) => provider.deletePod(pod, call),
    getPodStatus: (pod) => provider.getPodStatus(pod),
    getPods: () => provider.getPods(),
    notifyPods: (notify, tools) => provider.notifyPods(notify, tools),
  };
}

/** A provider that says once that a pod runs, and then has no such pod. */
function lossy(): NonNullable<NonNullable<NodeRow['options']>['provider']> {
  let asked = 0;
  return {
    createPod() {},
    getPodStatus: () => {
      asked += 1;
      return asked < 4 ? { phase: 'Running' } : undefined;
    },
  };
}

import type { JsonObject } from '../../../src/api/json/types.ts';
import { ApiError } from '../../../src/client/transport/api-error.ts';
import { bindingRows } from './stuck-bindings.ts';
import { extenderRows } from './stuck-extenders.ts';
import {
  critical,
  failed,
  notPlaced,
  type StuckSchedulerRow,
  type StuckSchedulerWorld,
  withPlugin,
} from './stuck-scheduler-world.ts';

const giveTheRight =
  'Give the user that the message names the right that it names; deploy/scheduler-rbac.yaml has all that a scheduler needs.';
const listing = { message: 'listing or watching failed' };
const noNode = { message: 'a pod fits on no node' };

async function listForbidden(world: StuckSchedulerWorld, right: 'list pods' | 'list nodes'): Promise<void> {
  await world.places.addPod('web', '1');
  await world.without(right);
  void world.scheduler.start().catch(() => {});
}

/** It may do now what it may not before, and finds a node for the pod. */
async function giveRight(world: StuckSchedulerWorld): Promise<void> {
  world.allow();
  await world.places.addNode('n', '4');
  await world.places.bound('web');
}

/** A node that a lesser pod fills, which has to go for the pod `web`. */
async function fullNode(
  world: StuckSchedulerWorld,
  victim: Parameters<StuckSchedulerWorld['places']['addPod']>[2],
): Promise<void> {
  await world.places.addNode('n', '2');
  await world.places.addPod('lesser', '2', victim);
  await world.places.bound('lesser');
  await world.places.addPod('web', '1', { spec: critical });
}

/** A claim `data`; without a class it is for volumes that an administrator makes. */
async function addClaim({ places, server }: StuckSchedulerWorld, storageClassName: string): Promise<void> {
  const spec = { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const path = `/api/v1/namespaces/${places.namespace}/persistentvolumeclaims`;
  await server.admin.send('POST', path, { body: { metadata: { name: 'data' }, spec } });
}

async function addPodWithClaim({ places }: StuckSchedulerWorld): Promise<void> {
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
  await places.addPod('web', '1', { spec: { volumes } });
}

const driver = 'gpu.example.com';

/** A pod that asks for a device by the claim `gpu`. */
async function addPodWithDevice({ places }: StuckSchedulerWorld): Promise<void> {
  const resourceClaims = [{ name: 'gpu', resourceClaimName: 'gpu' }];
  await places.addPod('web', '1', { spec: { resourceClaims } });
}

/** The claim `gpu`, and its class where that is there. */
async function addDeviceClaim({ places, server }: StuckSchedulerWorld, hasClass: boolean): Promise<void> {
  const api = '/apis/resource.k8s.io/v1';
  const deviceClassName = `gpus-${places.namespace}`;
  const selectors = [{ cel: { expression: `device.driver == "${driver}"` } }];
  const classBody = { metadata: { name: deviceClassName }, spec: { selectors } };
  if (hasClass) await server.admin.send('POST', `${api}/deviceclasses`, { body: classBody });
  const spec = { devices: { requests: [{ name: 'one', exactly: { deviceClassName } }] } };
  const path = `${api}/namespaces/${places.namespace}/resourceclaims`;
  await server.admin.send('POST', path, { body: { metadata: { name: 'gpu' }, spec } });
}

/** A device of the node `n`. */
async function addDevice({ places, server }: StuckSchedulerWorld, more: JsonObject): Promise<void> {
  const nodeName = `${places.schedulerName}-n`;
  const pool = { name: nodeName, generation: 1, resourceSliceCount: 1 };
  const spec = { driver, nodeName, pool, devices: [{ name: 'gpu-0', ...more }] };
  await server.admin.send('POST', '/apis/resource.k8s.io/v1/resourceslices', { body: { metadata: { name: nodeName }, spec } });
}

async function endVictim({ places, server }: StuckSchedulerWorld): Promise<void> {
  await server.admin.patchPod(places.namespace, 'lesser', { metadata: { finalizers: null } }, 'merge');
  await server.admin.deletePod(places.namespace, 'lesser', { gracePeriodSeconds: 0 });
  await places.bound('web');
}

const notStarted: StuckSchedulerRow = {
  id: 'scheduler-not-started',
  title: 'a scheduler that was made and not started',
  about: 'scheduler',
  kind: 'not-running',
  words: 'the scheduler was not started',
  help: 'Call `start()`.',
  hasBegun: false,
  async arrange(world) {
    await world.places.addNode('n', '4');
    await world.places.addPod('other', '1');
    world.make();
  },
  async mend(world) {
    await world.scheduler.start();
    await world.places.bound('other');
  },
};

const rightRows: readonly StuckSchedulerRow[] = [
  {
    id: 'no-right-to-list-pods',
    title: 'a scheduler that may not list pods',
    about: 'scheduler',
    kind: 'forbidden',
    words: 'cannot list resource "pods"',
    log: listing,
    help: giveTheRight,
    servers: 'both',
    arrange: (world) => listForbidden(world, 'list pods'),
    mend: giveRight,
    mendsInMemoryAlone: true,
  },
  {
    id: 'no-right-to-list-nodes',
    title: 'a scheduler that may not list nodes',
    about: 'scheduler',
    kind: 'forbidden',
    words: 'cannot list resource "nodes"',
    log: listing,
    help: giveTheRight,
    servers: 'both',
    arrange: (world) => listForbidden(world, 'list nodes'),
    mend: giveRight,
    mendsInMemoryAlone: true,
  },
  {
    id: 'no-right-to-bind',
    title: 'a scheduler that may not bind pods',
    about: 'pod',
    kind: 'forbidden',
    words: 'cannot create resource "pods/binding"',
    log: { ...notPlaced, fields: { errorClass: 'forbidden', plugin: 'DefaultBinder' } },
    event: failed,
    help: giveTheRight,
    servers: 'both',
    async arrange(world) {
      await world.places.addNode('n', '4');
      await world.places.addPod('web', '1');
      await world.without('create pods/binding');
      await world.scheduler.start();
    },
    async mend(world) {
      world.allow();
      await world.places.bound('web');
    },
    mendsInMemoryAlone: true,
  },
  {
    id: 'no-right-to-the-lease',
    title: 'a scheduler that may not have the Lease of the leader',
    about: 'scheduler',
    kind: 'forbidden',
    words: 'cannot get resource "leases"',
    log: {
      message: 'the Lease of the leader can be neither taken nor renewed: without it this process does nothing',
      fields: { errorClass: 'forbidden' },
    },
    help: giveTheRight,
    servers: 'both',
    async arrange(world) {
      await world.places.addPod('web', '1');
      await world.without('get leases', { leaderElection: world.places.election });
      await world.scheduler.start();
    },
    mend: giveRight,
    mendsInMemoryAlone: true,
  },
  {
    id: 'no-right-to-write-statuses',
    title: 'a scheduler that may not write the statuses of pods',
    about: 'scheduler',
    kind: 'forbidden',
    words: 'cannot patch resource "pods/status"',
    log: { message: 'the status of a pod could not be written', fields: { errorClass: 'forbidden', podName: 'web', attempt: 1 } },
    endTold: false,
    help: giveTheRight,
    servers: 'both',
    async arrange(world) {
      await world.places.addNode('n', '1');
      await world.places.addPod('web', '8');
      await world.without('patch pods/status');
      await world.scheduler.start();
    },
    async mend(world) {
      world.allow();
      // it is bound then, so nothing is left to be written
      await world.places.addNode('larger', '9');
      await world.places.bound('web');
    },
  },
  {
    id: 'no-right-to-write-events',
    title: 'a scheduler that may not write events',
    about: 'scheduler',
    kind: 'forbidden',
    words: 'cannot create resource "events"',
    log: {
      message: 'an event could not be written',
      fields: { errorClass: 'forbidden', podName: 'web', reason: 'Scheduled', attempt: 1 },
    },
    help: giveTheRight,
    servers: 'both',
    async arrange(world) {
      await world.places.addNode('n', '4');
      await world.places.addPod('web', '1');
      await world.without('create events');
      await world.scheduler.start();
    },
  },
  {
    id: 'no-right-to-delete-victims',
    title: 'a scheduler that may not delete the pods that have to go',
    about: 'pod',
    kind: 'forbidden',
    words: 'cannot delete resource "pods"',
    log: { message: 'a victim of preemption could not be deleted', fields: { errorClass: 'forbidden' } },
    help: giveTheRight,
    servers: 'both',
    async arrange(world) {
      await world.without('delete pods');
      await world.scheduler.start();
      await fullNode(world, {});
    },
  },
];

const serverRows: readonly StuckSchedulerRow[] = [
  {
    id: 'scheduler-server-gone',
    title: 'an apiserver that ends every connection',
    about: 'scheduler',
    kind: 'connection-lost',
    words: 'can be neither listed nor watched',
    logWords: false,
    log: listing,
    help: 'See whether the apiserver restarts, or a proxy or firewall ends connections.',
    async arrange(world) {
      const relay = await world.relay();
      const transport = world.transport(relay.through(world.server.kubeConfig()));
      await world.start({ transport });
      relay.cut();
    },
  },
  {
    id: 'scheduler-server-silent',
    title: 'an apiserver that takes connections and answers nothing',
    about: 'scheduler',
    kind: 'timeout',
    words: 'can be neither listed nor watched',
    logWords: false,
    log: listing,
    help: 'See whether the apiserver is overloaded, or the network drops packets: it was reached, and gave no answer.',
    async arrange(world) {
      const relay = await world.relay();
      relay.hold();
      const transport = world.transport(relay.through(world.server.kubeConfig()), { requestTimeoutMs: 300 });
      // a streamed list is waited for longer
      transport.stream = () => Promise.reject(new ApiError({ status: 400, reason: 'BadRequest', message: 'no streams' }));
      void world
        .make({ transport })
        .start()
        .catch(() => {});
    },
  },
];

const nodeRows: readonly StuckSchedulerRow[] = [
  {
    id: 'too-large-for-every-node',
    title: 'a pod that is too large for every node',
    about: 'pod',
    kind: 'no-node-fits',
    words: 'Insufficient cpu',
    log: noNode,
    event: failed,
    help: "Lower the pod's requests, or add a larger node: cpu lacks on 1 node, even without any other pod.",
    servers: 'both',
    async arrange(world) {
      await world.start();
      await world.places.addNode('n', '2');
      await world.places.addPod('web', '8');
    },
    async mend({ places }) {
      await places.addNode('larger', '16');
      await places.bound('web');
    },
  },
  {
    id: 'fits-if-others-go',
    title: 'a pod for which there is room once other pods are gone',
    about: 'pod',
    kind: 'no-node-fits',
    words: '1 Insufficient cpu',
    log: noNode,
    event: failed,
    help: "Add a node, end other pods, lower the pod's requests or raise its priority: cpu lacks on 1 node.",
    async arrange(world) {
      await world.start();
      await world.places.addNode('n', '2');
      await world.places.addPod('other', '2');
      await world.places.bound('other');
      await world.places.addPod('web', '1');
    },
    async mend({ places, server }) {
      await server.admin.deletePod(places.namespace, 'other', { gracePeriodSeconds: 0 });
      await places.bound('web');
    },
  },
  {
    id: 'no-nodes',
    title: 'a cluster without nodes',
    about: 'pod',
    kind: 'no-nodes',
    words: 'no nodes available to schedule pods',
    log: noNode,
    event: failed,
    help: 'Add a node: the scheduler knows of none, so see whether an agent has registered one.',
    async arrange(world) {
      await world.start();
      await world.places.addPod('web', '1');
    },
    async mend({ places }) {
      await places.addNode('n', '2');
      await places.bound('web');
    },
  },
  {
    id: 'all-nodes-cordoned',
    title: 'a cluster whose nodes are all cordoned',
    about: 'pod',
    kind: 'no-node-fits',
    words: '2 node(s) were unschedulable',
    log: noNode,
    event: failed,
    help: 'Uncordon a node: 2 nodes may take no new pods.',
    async arrange(world) {
      await world.start();
      for (const name of ['one', 'two']) await world.places.addNode(name, '2', { unschedulable: true });
      await world.places.addPod('web', '1');
    },
  },
  {
    id: 'all-nodes-tainted',
    title: 'a cluster whose nodes all have a taint that the pod does not tolerate',
    about: 'pod',
    kind: 'no-node-fits',
    words: '1 node(s) had untolerated taint(s)',
    log: noNode,
    event: failed,
    help: 'Remove a taint, or add a toleration to the pod: 1 node has one that it does not tolerate (a node that is not ready has one).',
    async arrange(world) {
      await world.start();
      await world.places.addNode('n', '2', { taints: [{ key: 'example.com/only', effect: 'NoSchedule' }] });
      await world.places.addPod('web', '1');
    },
  },
];

const waitRows: readonly StuckSchedulerRow[] = [
  {
    id: 'victim-held-by-finalizer',
    title: 'a pod that waits for a victim which a finalizer holds',
    about: 'pod',
    kind: 'waits-for-victims',
    words: 'lesser is held by the finalizer example.com/hold',
    // why it fits nowhere is told before its victims are asked to go
    eventWords: false,
    logWords: false,
    log: noNode,
    event: failed,
    help: 'See who is to take the finalizer off the pod NAMESPACE/lesser: as long as it has one, it stays and keeps its place.',
    servers: 'both',
    async arrange(world) {
      await world.start();
      await fullNode(world, { metadata: { finalizers: ['example.com/hold'] } });
    },
    mend: endVictim,
  },
  {
    id: 'victim-with-a-long-grace-period',
    title: 'a pod that waits for a victim with a long grace period',
    about: 'pod',
    kind: 'waits-for-victims',
    words: 'lesser may take 60 min to end, which is its grace period',
    // why it fits nowhere is told before its victims are asked to go
    eventWords: false,
    logWords: false,
    log: noNode,
    event: failed,
    help: 'Wait, or delete the pod NAMESPACE/lesser with a shorter grace period.',
    async arrange(world) {
      await world.start();
      await fullNode(world, { spec: { terminationGracePeriodSeconds: 3600 } });
    },
    mend: endVictim,
  },
  {
    id: 'gated-pod',
    title: 'a pod with scheduling gates',
    about: 'pod',
    kind: 'gated',
    words: 'waiting for scheduling gates: [example.com/quota]',
    help: "Take example.com/quota out of the pod's schedulingGates, or see why their owner does not.",
    servers: 'both',
    async arrange(world) {
      await world.start();
      await world.places.addNode('n', '2');
      await world.places.addPod('web', '1', { spec: { schedulingGates: [{ name: 'example.com/quota' }] } });
    },
    async mend({ places, server }) {
      await server.admin.patchPod(places.namespace, 'web', { spec: { schedulingGates: null } }, 'merge');
      await places.bound('web');
    },
  },
  {
    id: 'waits-for-a-permit',
    title: 'a pod that waits for the permit of a plugin',
    about: 'pod',
    kind: 'permit',
    words: 'waits for the permit of Gang',
    help: 'See what Gang waits for: without a permit in time the pod gives the node back and is tried again.',
    async arrange(world) {
      await world.start(withPlugin(world, { name: 'Gang', permit: () => ({ waitMs: 600_000 }) }));
      await world.places.addNode('n', '2');
      await world.places.addPod('web', '1');
    },
    async mend(world) {
      world.scheduler.scheduler.allowPod(await world.uidOf(), 'Gang');
      await world.places.bound('web');
    },
  },
  {
    id: 'not-confirmed',
    title: 'a pod that was bound, which the watch never shows',
    about: 'pod',
    kind: 'not-confirmed',
    words: 'but the watch of pods has not shown it there',
    help: 'See whether the watch of pods still brings changes, or etcd was set back to a time before the binding.',
    async arrange(world) {
      const transport = world.transport(world.server.kubeConfig());
      const request = transport.request.bind(transport);
      // a binding that the server takes and loses
      transport.request = async (given) => (given.path.endsWith('/binding') ? {} : request(given));
      await world.start({ transport });
      await world.places.addNode('n', '2');
      await world.places.addPod('web', '1');
      await world.places.until('it counts as bound', () => world.scheduler.stats().bound === 1);
      world.clock.skip(40_000);
    },
  },
];

const failureRows: readonly StuckSchedulerRow[] = [
  {
    id: 'pod-of-a-group',
    title: 'a pod of a pod group',
    about: 'pod',
    kind: 'pod-group',
    words: 'the pod belongs to the pod group "trainers", and this scheduler places no groups of pods',
    log: noNode,
    event: failed,
    help: 'Let a scheduler that places pod groups have the pod, or turn the plugin GangScheduling off in the profile: its pods are then placed one by one, and some may wait while others hold nodes.',
    async arrange(world) {
      await world.start();
      await world.places.addNode('n', '2');
      await world.places.addPod('web', '1', { spec: { schedulingGroup: { podGroupName: 'trainers' } } });
    },
  },
  {
    id: 'claimed-volume',
    title: 'a pod with a claim that is not there',
    about: 'pod',
    kind: 'volume-claim',
    words: 'persistentvolumeclaim "data" not found',
    log: noNode,
    event: failed,
    help: 'Make what the message names, or correct its name in the pod or in the claim.',
    servers: 'both',
    async arrange(world) {
      await world.start();
      await world.places.addNode('n', '2');
      await addPodWithClaim(world);
    },
  },
  {
    id: 'unbound-claim',
    title: 'a pod with a claim that has no volume yet',
    about: 'pod',
    kind: 'volume-claim',
    words: 'pod has unbound immediate PersistentVolumeClaims',
    log: noNode,
    event: failed,
    help: "See why the pod's claim has no volume yet: its storage class makes one, or an administrator, and kube-controller-manager marks the claim as bound (pv.kubernetes.io/bind-completed). The pod is tried again then.",
    servers: 'both',
    async arrange(world) {
      await addClaim(world, '');
      await world.start();
      await world.places.addNode('n', '2');
      await addPodWithClaim(world);
    },
  },
  {
    id: 'device-claim-missing',
    title: 'a pod with a claim of devices that is not there',
    about: 'pod',
    kind: 'gated',
    words: 'could not find ResourceClaim "',
    help: 'Make the claim that the message names, or correct its name in the pod. A server without resource.k8s.io/v1 has no claims. Claims of devices of the pod: NAMESPACE/gpu.',
    servers: 'both',
    async arrange(world) {
      await world.start();
      await world.places.addNode('n', '2');
      await addPodWithDevice(world);
    },
  },
  {
    id: 'device-class-missing',
    title: 'a pod with a claim of devices whose class is not there',
    about: 'pod',
    kind: 'resource-claim',
    words: 'request one: device class gpus-',
    log: noNode,
    event: failed,
    help: 'Make the device class that the message names, or correct its name in the claim. Claims of devices of the pod: NAMESPACE/gpu.',
    servers: 'both',
    async arrange(world) {
      await addDeviceClaim(world, false);
      await world.start();
      await world.places.addNode('n', '2');
      await addPodWithDevice(world);
    },
  },
  {
    id: 'no-device',
    title: 'a pod with a claim of devices for which none is free',
    about: 'pod',
    kind: 'no-node-fits',
    words: '1 cannot allocate all claims',
    log: noNode,
    event: failed,
    help: "Add devices, end pods that use some, or ask for less in the pod's claims: what they ask for is not free on 1 node. Claims of devices of the pod: NAMESPACE/gpu.",
    async arrange(world) {
      await addDeviceClaim(world, true);
      await world.start();
      await world.places.addNode('n', '2');
      await addPodWithDevice(world);
    },
    async mend(world) {
      await addDevice(world, {});
      await world.places.bound('web');
    },
  },
  {
    id: 'waits-for-devices',
    title: 'a pod whose device its driver does not make ready',
    about: 'pod',
    kind: 'waits-before-binding',
    words: 'the plugin DynamicResources waits for the devices of',
    help: 'See whether the drivers of the devices run: each says in the status of the claim when its device is ready. In the end the pod gives the node back and is tried again.',
    async arrange(world) {
      await addDeviceClaim(world, true);
      const conditions = { bindingConditions: ['example.com/ready'], bindingFailureConditions: ['example.com/broken'] };
      await addDevice(world, conditions);
      await world.start();
      await world.places.addNode('n', '2');
      await addPodWithDevice(world);
      await world.places.until('it has its node', () => world.scheduler.stats().binding === 1);
      world.clock.skip(11_000);
    },
  },
  {
    id: 'waits-for-volumes',
    title: 'a pod whose volumes nobody makes on its node',
    about: 'pod',
    kind: 'waits-before-binding',
    words: 'the plugin VolumeBinding waits for the volumes of',
    help: "See whether what makes or binds the volumes runs: the provisioner of the claims' storage class, and kube-controller-manager. In the end the pod gives the node back and is tried again.",
    servers: 'both',
    async arrange(world) {
      const { places, server } = world;
      const className = `late-${places.namespace}`;
      await server.admin.send('POST', '/apis/storage.k8s.io/v1/storageclasses', {
        body: { metadata: { name: className }, provisioner: 'nobody.example.com', volumeBindingMode: 'WaitForFirstConsumer' },
      });
      await addClaim(world, className);
      await world.start();
      await places.addNode('n', '2');
      await addPodWithClaim(world);
      await places.until('it has its node', () => world.scheduler.stats().binding === 1);
      world.clock.skip(11_000);
    },
  },
  {
    id: 'plugin-throws',
    title: 'a plugin that throws',
    about: 'pod',
    kind: 'plugin-failed',
    words: "The scheduler's plugin Broken failed in filter: no such table",
    log: { ...notPlaced, fields: { plugin: 'Broken' } },
    event: failed,
    help: 'Correct the plugin Broken, or take it out of the profile: it is asked again at the next attempt.',
    servers: 'both',
    async arrange(world) {
      const filter = (): never => {
        throw new Error('no such table');
      };
      await world.start(withPlugin(world, { name: 'Broken', filter }));
      await world.places.addNode('n', '2');
      await world.places.addPod('web', '1');
    },
  },
  {
    id: 'gate-throws',
    title: 'a plugin that cannot say whether a pod may be tried',
    about: 'pod',
    kind: 'plugin-failed',
    words: "The scheduler's plugin Broken failed in preEnqueue: no such table",
    log: { message: 'a plugin could not say whether a pod may be tried; the pod waits', fields: { plugin: 'Broken' } },
    help: 'Correct the plugin Broken, or take it out of the profile: it is asked again at an update of the pod.',
    async arrange(world) {
      const preEnqueue = (): never => {
        throw new Error('no such table');
      };
      await world.start(withPlugin(world, { name: 'Broken', preEnqueue }));
      await world.places.addPod('web', '1');
    },
  },
  {
    id: 'permit-refused',
    title: 'a plugin that takes back the node that was chosen',
    about: 'pod',
    kind: 'refused-node',
    words: 'the quota of the team is used up',
    log: noNode,
    event: failed,
    help: 'See what the plugin Quota waits for, or why it refuses.',
    async arrange(world) {
      const permit = () => ({ code: 'Unschedulable', reasons: ['the quota of the team is used up'] }) as const;
      await world.start(withPlugin(world, { name: 'Quota', permit }));
      await world.places.addNode('n', '2');
      await world.places.addPod('web', '1');
    },
  },
];

/** The ways in which a scheduler of a cluster, or a pod that it is to place, is stuck. */
export const stuckSchedulers: readonly StuckSchedulerRow[] = [
  notStarted,
  ...rightRows,
  ...serverRows,
  ...nodeRows,
  ...waitRows,
  ...failureRows,
  ...bindingRows,
  ...extenderRows,
];

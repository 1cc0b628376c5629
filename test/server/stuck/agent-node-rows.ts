import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { claimCheckpointText } from '../../../src/kubelet/dra/claim-checkpoint.ts';
import { noPodCgroups } from '../../../src/kubelet/machine/machine.ts';
import { createCertificateAuthority } from '../../support/certificate-authority.ts';
import { until } from '../../support/until.ts';
import { agentDeviceRows } from './agent-device-rows.ts';
import { agentShutdownRows } from './agent-shutdown-rows.ts';
import { agentStorageRows } from './agent-storage-rows.ts';
import { type AgentRow, silentPlugins } from './stuck-agent.ts';

const startRuntime = 'Start the container runtime, or see why it does not answer (systemctl status containerd, its log).';
const noAnswer = { message: 'the container runtime did not say how it is; it is asked again' };

/** A certificate and its key, for the node's API. */
async function servingFiles(folder: string) {
  const { cert, key } = createCertificateAuthority('serving').issue();
  const files = { tlsCertFile: join(folder, 'tls.crt'), tlsPrivateKeyFile: join(folder, 'tls.key') };
  await Promise.all([writeFile(files.tlsCertFile, cert), writeFile(files.tlsPrivateKeyFile, key)]);
  return files;
}

/** Another program has the port until the row is mended. */
function healthzRow(): AgentRow {
  const message = 'the page /healthz could not be served, and is tried again';
  const other = createServer();
  return {
    id: 'healthz-port-taken',
    title: 'an agent whose port for `/healthz` is taken',
    about: 'node',
    kind: 'healthz',
    words: 'EADDRINUSE',
    log: { message },
    help: 'End what listens on this port, or set healthzPort and healthzBindAddress.',
    arrange: async (world) => {
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
      const { port } = other.address() as { readonly port: number };
      await world.node.throughSockets(world.begin({ healthzPort: port }));
      await until(() => world.logs.some((line) => line.message === message));
    },
    mend: async (world) => {
      await new Promise((resolve) => other.close(resolve));
      await until(() =>
        world.pass(100).then(() => world.infos.some((line) => line.message === 'the page /healthz is served again')),
      );
    },
  };
}

const runtimeRows: readonly AgentRow[] = [
  {
    id: 'runtime-down-at-start',
    title: 'a runtime that is down when the agent starts',
    about: 'node',
    kind: 'runtime-down',
    words: 'connection refused',
    log: noAnswer,
    help: startRuntime,
    arrange: (world) => {
      world.node.runtime.restart({ downMs: 30_000 });
      return world.start();
    },
    mend: () => {},
  },
  {
    id: 'runtime-dies',
    title: 'a runtime that dies',
    about: 'node',
    kind: 'runtime-down',
    words: 'connection refused',
    log: noAnswer,
    event: { reason: 'NodeNotReady' },
    eventWords: false,
    help: startRuntime,
    arrange: async (world) => {
      await world.start();
      world.node.runtime.restart({ downMs: 120_000 });
      await world.pass(60_000);
    },
    mend: () => {},
  },
  {
    id: 'runtime-hangs',
    title: 'a runtime that does not answer',
    about: 'node',
    kind: 'runtime-down',
    words: 'Status gave no answer within 30 s',
    log: noAnswer,
    event: { reason: 'NodeNotReady' },
    eventWords: false,
    help: startRuntime,
    arrange: async (world) => {
      await world.start();
      world.node.runtime.fail({ call: 'Status', times: 1000, fault: { kind: 'hang' } });
      await world.pass(60_000);
    },
    mend: (world) => world.node.runtime.heal(),
  },
  {
    id: 'runtime-not-ready',
    title: 'a runtime that says that it is not ready',
    about: 'node',
    kind: 'runtime-down',
    words: 'reason:NoSnapshotter message:the snapshotter is not there',
    log: { message: 'the container runtime says that it is not ready' },
    event: { reason: 'NodeNotReady' },
    eventWords: false,
    help: startRuntime,
    arrange: async (world) => {
      await world.start();
      const [reason, message] = ['NoSnapshotter', 'the snapshotter is not there'];
      world.node.runtime.setCondition({ type: 'RuntimeReady', status: false, reason, message });
      await world.pass(60_000);
    },
    mend: ({ node }) => node.runtime.setCondition({ type: 'RuntimeReady', status: true, reason: '', message: '' }),
  },
  {
    id: 'network-not-ready',
    title: 'a node without a network plugin',
    about: 'node',
    kind: 'network-not-ready',
    words: 'cni plugin not initialized',
    log: { message: 'the container runtime says that its network is not ready' },
    event: { reason: 'NodeNotReady' },
    eventWords: false,
    help: "Install the cluster's network plugin: the runtime finds none that is ready (/etc/cni/net.d, and what the plugin's pods say).",
    arrange: async (world) => {
      await world.start();
      const [reason, message] = ['NetworkPluginNotReady', 'cni plugin not initialized'];
      world.node.runtime.setCondition({ type: 'NetworkReady', status: false, reason, message });
      await world.pass(60_000);
    },
    mend: ({ node }) => node.runtime.setCondition({ type: 'NetworkReady', status: true, reason: '', message: '' }),
  },
];

const shortageRows: readonly AgentRow[] = [
  {
    id: 'memory-pressure',
    title: 'a node that runs short of memory',
    about: 'node',
    kind: 'memory-pressure',
    words: 'Threshold quantity: 1Ei',
    log: { message: 'the node runs short, and takes fewer pods' },
    event: { reason: 'EvictionThresholdMet' },
    eventWords: false,
    retried: false,
    help: 'Free memory on the node, or move pods away: pods are evicted, and new ones without requests are refused.',
    arrange: (world) => world.start({ evictionHard: { 'memory.available': '1Ei' } }),
  },
  {
    id: 'disk-pressure',
    title: 'a node whose disk is full',
    about: 'node',
    kind: 'disk-pressure',
    words: 'nodefs.available: Threshold quantity:',
    log: { message: 'the node runs short, and takes fewer pods' },
    event: { reason: 'EvictionThresholdMet' },
    eventWords: false,
    retried: false,
    help: 'Free the disk of the node: pods are evicted, and new ones are refused.',
    arrange: (world) => world.start({ evictionHard: { 'nodefs.available': '1Ei' } }),
  },
  {
    id: 'image-gc',
    title: 'images that cannot be removed',
    about: 'node',
    kind: 'image-gc',
    retried: 'untimed',
    words: 'images: input/output error',
    log: { message: 'unused images could not be removed' },
    event: { reason: 'ImageGCFailed' },
    help: 'Make room on the disk of the images, or set imageGCHighThresholdPercent to 100 where the runtime has no disk.',
    arrange: async (world) => {
      const message = 'images: input/output error';
      world.node.runtime.fail({ call: 'ListImages', times: 1000, fault: { kind: 'error', error: 'failed', message } });
      await world.start({ imageGCHighThresholdPercent: 85 });
      await world.pass(320_000);
    },
    mend: (world) => {
      world.node.runtime.heal();
      return world.pass(310_000);
    },
  },
  {
    id: 'cgroups',
    title: 'cgroups that cannot be brought up to date',
    about: 'node',
    kind: 'cgroups',
    retried: 'untimed',
    words: 'write cpu.weight: permission denied',
    log: { message: 'the groups of the classes of pods could not be brought up to date; it is tried again' },
    help: 'See whether the agent may write to /sys/fs/cgroup, and whether cgroupDriver is that of the runtime.',
    arrange: async (world) => {
      const updateClasses = () => Promise.reject(new Error('write cpu.weight: permission denied'));
      await world.start({ cgroups: { ...noPodCgroups, updateClasses } });
      await world.pass(5000);
    },
  },
  {
    id: 'limit-of-pods',
    title: 'pods that take more together than the node has for them',
    about: 'node',
    kind: 'cgroups',
    words: 'memory.limit_in_bytes: EBUSY',
    log: { message: 'all pods together could not be limited; it is tried again' },
    event: { reason: 'FailedNodeAllocatableEnforcement' },
    help: 'See whether the agent may write to /sys/fs/cgroup, and whether cgroupDriver is that of the runtime.',
    arrange: async (world) => {
      const limitGroup = () => Promise.reject(new Error('write /kubepods/memory.limit_in_bytes: EBUSY'));
      await world.start({ cgroups: { ...noPodCgroups, limitGroup }, cgroupsPerQOS: true });
    },
  },
];

const startRows: readonly AgentRow[] = [
  {
    id: 'start-cgroups',
    title: 'an agent that cannot make its cgroups',
    about: 'node',
    kind: 'start',
    words: 'the cgroup /kubepods cannot be made: read-only file system',
    log: { message: 'the node agent could not start' },
    retried: false,
    help: 'Mend what the message names, and start the program again: the agent does not try by itself.',
    arrange: async (world) => {
      const createBase = () => Promise.reject(new Error('the cgroup /kubepods cannot be made: read-only file system'));
      await world.start({ cgroups: { ...noPodCgroups, createBase } }).catch(() => {});
    },
  },
  {
    id: 'certificate-file-gone',
    title: "a file of the certificate of the node's API that is gone while the agent runs",
    about: 'node',
    kind: 'certificate-files',
    words: 'cannot be read: ENOENT',
    log: { message: "the certificates of the node's API could not be read again; those of before stay" },
    help: 'Mend the file that the message names: it is read again by itself.',
    arrange: async (world) => {
      const files = await servingFiles(await world.folder());
      await world.node.throughSockets(world.begin({ server: { ...files, address: '127.0.0.1', port: 0 } }));
      await rm(files.tlsCertFile);
      await world.pass(40_000);
    },
  },
  healthzRow(),
  {
    id: 'port-taken',
    title: 'an agent whose port is taken',
    about: 'node',
    kind: 'start',
    words: 'EADDRINUSE',
    log: { message: 'the node agent could not start' },
    retried: false,
    help: 'End what listens on this port, such as a kubelet, or set server.port; then start the program again.',
    arrange: async (world) => {
      const files = await servingFiles(await world.folder());
      const other = createServer();
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
      const { port } = other.address() as { readonly port: number };
      await world.node.throughSockets(world.begin({ server: { ...files, address: '127.0.0.1', port } })).catch(() => {});
      other.close();
    },
  },
];

const rights =
  "Give this agent's user the right that is missing: the message names both. deploy/rbac.yaml has all that an agent needs.";

const serverRows: readonly AgentRow[] = [
  {
    id: 'events-refused',
    title: 'events that the apiserver refuses',
    about: 'node',
    kind: 'events',
    retried: 'untimed',
    words: 'events is forbidden',
    log: { message: 'an event was refused: it is not written' },
    help: 'Let the agent create and patch events (deploy/rbac.yaml), or see why the apiserver does not answer.',
    arrange: async (world) => {
      world.refuse(/^POST .*events/, 403, 'Forbidden', 'events is forbidden: User "system:node:node-1" cannot create events');
      await world.start();
    },
  },
  {
    id: 'node-forbidden',
    title: 'a node that the agent may not create',
    about: 'node',
    kind: 'forbidden',
    words: 'nodes "node-1" is forbidden',
    log: { message: 'the node could not be kept in step' },
    help: rights,
    arrange: async (world) => {
      world.refuse(/ \/api\/v1\/nodes/, 403, 'Forbidden', 'nodes "node-1" is forbidden: User "web" cannot create nodes');
      world.begin().catch(() => {});
      await world.pass(20_000);
    },
    mend: (world) => world.allow(),
  },
  {
    id: 'credentials-expired',
    title: 'credentials that have expired',
    about: 'node',
    kind: 'unauthorized',
    words: 'the bearer token has expired',
    log: { message: 'the node could not be kept in step' },
    help: 'Renew the credentials: the apiserver does not take those of the kubeconfig.',
    arrange: async (world) => {
      await world.start();
      world.refuse(/./, 401, 'Unauthorized', 'the bearer token has expired');
      await world.pass(330_000);
    },
    mend: (world) => world.allow(),
  },
  {
    id: 'lease-forbidden',
    title: 'a Lease that cannot be renewed',
    about: 'node',
    kind: 'forbidden',
    words: 'leases.coordination.k8s.io "node-1" is forbidden',
    log: { message: 'the Lease of the node could not be renewed' },
    help: rights,
    arrange: async (world) => {
      await world.start();
      world.refuse(/leases/, 403, 'Forbidden', 'leases.coordination.k8s.io "node-1" is forbidden: no right to update');
      await world.pass(60_000);
    },
    mend: (world) => world.allow(),
  },
  {
    id: 'two-node-agents',
    title: 'two agents on one node',
    about: 'node',
    kind: 'two-agents',
    words: `process ${process.pid} on `,
    log: { message: 'another agent renews the Lease of this node: two agents run under one name' },
    event: { reason: 'TwoAgents' },
    retried: false,
    help: 'End one of the two agents, or give it a node name of its own.',
    arrange: async (world) => {
      await world.start();
      const other = world.node.agent({ imageGCHighThresholdPercent: 100, evictionHard: {} });
      await world.node.through(other.start());
      await world.pass(60_000);
      await world.node.through(other.stop());
    },
  },
  {
    id: 'bad-manifest',
    title: 'a static pod with a bad manifest',
    about: 'node',
    kind: 'invalid-manifest',
    words: 'Expected `spec.containers` to be a list, got a number',
    log: { message: 'the manifest cannot be used; it is left out' },
    help: 'Correct the manifest that the message names.',
    arrange: async (world) => {
      const staticPodPath = await world.folder();
      await writeFile(
        join(staticPodPath, 'web.yaml'),
        'apiVersion: v1\nkind: Pod\nmetadata: { name: web }\nspec: { containers: 7 }\n',
      );
      await world.start({ staticPodPath, fileCheckFrequencyMs: 2000 });
      await world.pass(5000);
    },
  },
];

const pluginRows: readonly AgentRow[] = [
  {
    id: 'plugin-silent',
    title: 'a plugin that does not answer',
    about: 'node',
    kind: 'plugin',
    words: 'rpc error: code = Unavailable desc = no connection established to a.sock',
    log: { message: 'a plugin could not be registered; it is tried again' },
    help: 'See what the message says, and the log of the plugin and of its registrar.',
    arrange: async (world) => {
      const rootDirectory = await world.folder();
      const path = join(rootDirectory, 'plugins_registry', 'a.sock');
      await mkdir(dirname(path));
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(path, resolve));
      server.unref();
      await world.start({ rootDirectory, plugins: silentPlugins });
      await world.pass(5000);
    },
  },
  {
    id: 'plugins-folder',
    title: 'a folder of plugins that cannot be read',
    about: 'node',
    kind: 'plugins-folder',
    words: 'EEXIST',
    log: { message: 'the sockets of plugins cannot be looked at; plugins stay as they are' },
    retried: 'untimed',
    help: 'See whether the agent may read plugins_registry in its root directory: plugins that come or go are not noticed.',
    arrange: async (world) => {
      const rootDirectory = await world.folder();
      await writeFile(join(rootDirectory, 'plugins_registry'), 'no folder');
      await world.start({ rootDirectory, plugins: silentPlugins });
      await world.pass(5000);
    },
  },
  {
    id: 'credential-plugin',
    title: 'a plugin for image credentials that fails',
    about: 'node',
    kind: 'credential-plugin',
    words: 'ecr ended with exit code 1: no such role',
    log: { message: 'a plugin gave no credentials for an image' },
    retried: 'untimed',
    help: 'See what the message says, and run the plugin by hand with a request: images that need its credentials are not pulled.',
    arrange: async (world) => {
      const folder = await world.folder();
      await writeFile(join(folder, 'ecr'), '#!/bin/sh\necho no such role >&2\nexit 1\n', { mode: 0o755 });
      const apiVersion = 'credentialprovider.kubelet.k8s.io/v1';
      const providers = [{ name: 'ecr', matchImages: ['docker.io'], defaultCacheDuration: '1m', apiVersion }];
      const config = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig', providers };
      await writeFile(join(folder, 'config.json'), JSON.stringify(config));
      await world.start({ imageCredentialProviderConfig: join(folder, 'config.json'), imageCredentialProviderBinDir: folder });
      world.create();
      // the plugin is a process, and takes its own time
      await until(async () => {
        await world.pass(10);
        return world.agent.snapshot().problems.some(({ kind }) => kind === 'credential-plugin');
      });
    },
  },
  {
    id: 'resource-slices-refused',
    title: 'a node that may not delete what drivers have told of it',
    about: 'node',
    kind: 'resource-slices',
    words: 'resourceslices.resource.k8s.io is forbidden',
    log: { message: 'the resource slices of drivers that are not here could not be deleted' },
    help: 'Let the node delete collections of resourceslices (deploy/rbac.yaml): pods may be placed here that no driver has devices for.',
    arrange: async (world) => {
      world.refuse(/resourceslices/, 403, 'Forbidden', 'resourceslices.resource.k8s.io is forbidden');
      await world.start({ plugins: silentPlugins });
      await world.pass(5000);
    },
    mend: (world) => world.allow(),
  },
  {
    id: 'claims-file',
    title: 'a file of resource claims that is broken: pods with claims wait',
    about: 'node',
    kind: 'claims-file',
    words: 'dra_manager_state is no checkpoint of resource claims that is whole',
    log: { message: 'the file of resource claims cannot be used; pods that ask for claims wait' },
    retried: 'untimed',
    help: 'Mend the file dra_manager_state in the root directory. Or drain the node and remove it: what drivers have made ready is then known to nobody.',
    arrange: async (world) => {
      const rootDirectory = await world.folder();
      await writeFile(join(rootDirectory, 'dra_manager_state'), 'no checkpoint');
      await world.start({ rootDirectory, plugins: silentPlugins });
      await world.pass(5000);
    },
  },
  {
    id: 'claims-left',
    title: 'claims of a pod that is gone, whose driver is not here',
    about: 'node',
    kind: 'claims-left',
    words: 'DRA driver gpu.example.com is not registered',
    log: { message: 'the claims of a pod that is gone could not be taken back; it is tried again' },
    retried: 'untimed',
    help: 'See whether the driver that the message names runs on this node, and its log.',
    arrange: async (world) => {
      const rootDirectory = await world.folder();
      const claim = {
        namespace: 'default',
        name: 'gpu',
        uid: '1',
        podUIDs: new Set(['gone']),
        drivers: new Map([['gpu.example.com', []]]),
      };
      await writeFile(join(rootDirectory, 'dra_manager_state'), claimCheckpointText([claim]));
      await world.start({ rootDirectory, plugins: silentPlugins });
      await world.pass(70_000);
    },
  },
  {
    id: 'csi-node-refused',
    title: 'a node that may not write its CSINode',
    about: 'node',
    kind: 'csi-node',
    words: 'csinodes.storage.k8s.io is forbidden',
    log: { message: 'the CSINode could not be written; it is tried again' },
    help: 'Let the node get, create, update and delete its CSINode, and patch the status of its Node (deploy/rbac.yaml).',
    arrange: async (world) => {
      world.refuse(/csinodes/, 403, 'Forbidden', 'csinodes.storage.k8s.io is forbidden');
      await world.start({ plugins: silentPlugins });
      await world.pass(20_000);
    },
    mend: (world) => world.allow(),
  },
];

/** Ways in which something is wrong with the node of a node agent. */
export const agentNodeRows: readonly AgentRow[] = [
  ...runtimeRows,
  ...shortageRows,
  ...startRows,
  ...agentShutdownRows,
  ...serverRows,
  ...pluginRows,
  ...agentStorageRows,
  ...agentDeviceRows,
];

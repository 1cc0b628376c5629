import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { podUIDOf } from '../../../../src/api/pod/pod-identity.ts';
import type { PodStatus, WirePod } from '../../../../src/index.ts';
import { NodeAgent } from '../../../../src/kubelet.ts';
import { ApiEventRecorder, ProbeManager, type Prober, ProviderNode } from '../../../../src/node.ts';
import { FakeMounter, FakeRuntime, type RuntimeHappening } from '../../../../src/testing.ts';
import { networkOf } from '../../../support/network-of.ts';
import { barePod } from '../../../support/pods.ts';
import { quietMachine } from '../../../support/quiet-machine.ts';
import { namespace, nodeName, type SoakPart } from '../soak-world.ts';
import { createPods, deletePods, removePods } from './pods.ts';

const podsARound = 10;

/** What is remembered of events is bounded and large: it has a part of its own. */
const noEvents = { event: () => {} };

/** A provider node: creates, updates and deletes pods, some of which fail. */
export const providerPart: SoakPart = {
  name: 'provider',
  async open(world) {
    const held = new Map<string, PodStatus>();
    const call = async (pod: { readonly metadata?: { readonly uid?: string } }, status: PodStatus | undefined): Promise<void> => {
      world.expectGone(pod);
      if (world.prng.chance(0.1)) throw new Error('the cloud is busy');
      const uid = podUIDOf(pod) ?? '';
      if (status === undefined) held.delete(uid);
      else held.set(uid, status);
    };
    const containerStatuses = [
      { name: 'app', ready: true, restartCount: 0, image: 'app:1', imageID: 'a', state: { running: {} } },
    ];
    const provider = {
      createPod: (pod: object) => call(pod, { phase: 'Running', containerStatuses }),
      updatePod: (pod: object) => call(pod, { phase: 'Running', containerStatuses }),
      deletePod: (pod: object) => call(pod, undefined),
      getPodStatus: async (pod: WirePod) => held.get(podUIDOf(pod) ?? ''),
    };
    const shared = { clock: world.partClock, logger: null, random: () => world.prng.next(), eventRecorder: noEvents };
    const node = new ProviderNode({ ...shared, transport: world.kubeTransport, nodeName, provider: provider as never });
    const started = node.start();
    await world.pass(20_000);
    await started;
    return {
      async churn(round) {
        const pods = createPods(world, round, podsARound);
        if (round % 4 === 0) await world.storm(30_000);
        await world.pass(20_000);
        for (const { metadata } of pods) {
          const store = world.store('pods');
          const pod = store.get({ namespace, name: metadata?.name ?? '' }) as WirePod;
          store.update({ ...pod, metadata: { ...pod.metadata, labels: { round: String(round) } } } as never);
        }
        await world.pass(20_000);
        deletePods(world, pods);
        await world.pass(60_000);
        removePods(world, pods);
        await world.pass(300_000);
        if (held.size > 0) throw new Error(`the provider holds ${held.size} pods of round ${round}`);
        return podsARound * 3;
      },
      async stop() {
        await world.awaited(node.stop());
      },
    };
  },
};

/** A whole node agent over a container runtime in memory. */
export const agentPart: SoakPart = {
  name: 'agent',
  async open(world) {
    const folder = await mkdtemp(join(tmpdir(), 'soak-agent-'));
    const lives = world.prng.fork('lives');
    const runtime = new FakeRuntime({
      clock: world.partClock,
      lives: () => (lives.chance(0.3) ? { runsMs: lives.between(100, 5000), exitCode: lives.int(0, 2) } : {}),
    });
    const agent = new NodeAgent({
      transport: world.kubeTransport,
      ...{ nodeName, nodeIPs: ['192.0.2.1'], network: networkOf('192.0.2.1') },
      ...{ runtime, mounter: new FakeMounter(), resolvConf: '', cgroupsPerQOS: false },
      machine: quietMachine(),
      ...{ rootDirectory: join(folder, 'kubelet'), podLogsDirectory: join(folder, 'logs') },
      // the real machine's disks are nothing to a node in virtual time
      ...{ evictionHard: {}, imageGCHighThresholdPercent: 100 },
      ...{ clock: world.partClock, random: () => world.prng.next(), logger: null, eventRecorder: noEvents },
    });
    const started = agent.start();
    await world.pass(20_000);
    await started;
    return {
      async churn(round) {
        const restartPolicy = world.prng.pick(['Always', 'OnFailure', 'Never']);
        const image = `example.test/app-${round}:1`;
        const probe = { readinessProbe: { exec: { command: ['true'] }, periodSeconds: 5 } };
        const secret = { name: 'key', secret: { secretName: `key-${round}`, optional: true } };
        const spec = {
          restartPolicy,
          containers: [{ name: 'app', image, ...probe }],
          volumes: [secret, { name: 'e', emptyDir: {} }],
        };
        const pods = createPods(world, round, podsARound, spec);
        if (round % 4 === 0) await world.storm(30_000);
        if (round % 5 === 0) runtime.restart({ downMs: 2000 });
        await world.pass(30_000);
        deletePods(world, pods);
        await world.pass(120_000);
        removePods(world, pods);
        await world.pass(900_000);
        const left = await runtime.listContainers();
        if (left.length > 0)
          throw new Error(`${left.length} containers of round ${round} are left: ${JSON.stringify(left.slice(0, 2))}`);
        for (const known of await runtime.listImages()) await runtime.removeImage(known.id);
        runtime.clearCalls();
        (runtime.history as RuntimeHappening[]).length = 0;
        return podsARound * 10;
      },
      async stop() {
        await world.awaited(agent.stop());
        await runtime.close();
        await rm(folder, { recursive: true, force: true });
      },
    };
  },
};

/** Probes of containers that come, fail, restart and go. */
export const probesPart: SoakPart = {
  name: 'probes',
  async open(world) {
    const statuses = new Map<string, PodStatus>();
    const answer = async (): Promise<{ result: 'success' | 'failure'; output: string }> => {
      if (world.prng.chance(0.05)) throw new Error('the probe broke');
      return { result: world.prng.chance(0.8) ? 'success' : 'failure', output: '' };
    };
    const prober = { exec: answer, http: answer, tcp: answer, grpc: answer } as unknown as Prober;
    const statusManager = {
      getPodStatus: (uid: string) => statuses.get(uid),
      setContainerReadiness: () => {},
      setContainerStartup: () => {},
    };
    const probes = new ProbeManager({
      prober,
      statusManager,
      clock: world.partClock,
      logger: null,
      random: () => world.prng.next(),
    });
    return {
      async churn(round) {
        const probe = { exec: { command: ['true'] }, periodSeconds: 1, timeoutSeconds: 1 };
        const containers = [{ name: 'app', readinessProbe: probe, livenessProbe: probe, startupProbe: probe }];
        const pods = Array.from({ length: podsARound }, (_, i) => {
          const metadata = { name: `pod-${round}-${i}`, namespace, uid: `${round}-${i}` };
          return world.expectGone(barePod({ metadata, spec: { containers } }));
        });
        for (const pod of pods) {
          const state = { running: { startedAt: new Date(world.partClock.now()).toISOString() } };
          const status = {
            name: 'app',
            containerID: `fake://${podUIDOf(pod)}`,
            state,
            ready: false,
            restartCount: 0,
            image: '',
            imageID: '',
          };
          statuses.set(podUIDOf(pod), { phase: 'Running', podIP: '192.0.2.7', containerStatuses: [status] } as PodStatus);
          probes.addPod(pod);
        }
        await world.pass(10_000);
        for (const pod of pods) {
          statuses.delete(podUIDOf(pod));
          probes.removePod(pod);
        }
        await world.pass(10_000);
        return podsARound * 30;
      },
      async stop() {
        await world.awaited(probes.stop());
      },
    };
  },
};

/** Events of pods that come and go, written through every weather. */
export const eventsPart: SoakPart = {
  name: 'events',
  warmUp: 24_000,
  async open(world) {
    const { transport, partClock: clock } = world;
    const recorder = new ApiEventRecorder({ transport, nodeName, clock, logger: null, random: () => world.prng.next() });
    return {
      async churn(round) {
        const pods = Array.from({ length: podsARound }, (_, i) => {
          return world.expectGone({ metadata: { name: `pod-${round}-${i}`, namespace, uid: `${round}-${i}` } });
        });
        for (const pod of pods) {
          for (const reason of ['Pulled', 'Created', 'Started', 'Started']) recorder.event(pod, 'Normal', reason, `of ${reason}`);
        }
        if (round % 40 === 0) await world.storm(30_000);
        await world.pass(10_000);
        return podsARound * 4;
      },
      async stop() {
        await world.awaited(recorder.stop());
      },
    };
  },
};

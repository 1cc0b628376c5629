import type { WirePod } from 'pod-status-manager';
import type { RuntimeFaultRule } from 'pod-status-manager/testing';

import type { Between, BrokenCalls } from './breakable-provider.ts';
import { aPod, type Fault, type FaultOn, type Faults, type FaultTurn } from './fault.ts';

type PodSpec = NonNullable<WirePod['spec']>;
type Container = PodSpec['containers'][number];

/** What the provider of a virtual node can do. */
export const providerFaults: Faults = {
  quota: calls('the provider has no room for new pods', 'createPod', () => {
    throw new Error('quota exceeded: 10 of 10 machines are in use');
  }),
  hangs: calls(
    'the provider does not answer when it is to create a pod',
    'createPod',
    (turn) =>
      async (_, { signal }, answer) => {
        const over = AbortSignal.any([signal, turn.ended]);
        await new Promise((resolve) => (over.aborted ? resolve(over) : over.addEventListener('abort', resolve)));
        signal.throwIfAborted();
        return answer();
      },
  ),
  'delete-fails': calls('the provider cannot delete a pod', 'deletePod', () => {
    throw new Error('the machine is locked by a backup');
  }),
  'no-status': onSome('does not know how they are', () => {
    throw new Error('the connection to the machines is lost');
  }),
  nonsense: onSome('answers nonsense', () => ({ phase: 'Sideways', podIP: 'nowhere' })),
  forgets: onSome('has forgotten them', () => undefined),
};

/** What a container runtime, and what is asked of it, can do to a whole node. */
export const runtimeFaults: Faults = {
  'image-missing': nodePod('its image is not there', { image: 'registry.example/missing:1' }),
  'image-private': nodePod('there are no credentials for its image', { image: 'registry.example/private-app:1' }),
  'config-map-missing': nodePod('its config map is not there', { envFrom: [{ configMapRef: { name: 'not-there' } }] }),
  'secret-missing': nodePod(
    'the secret of its volume is not there',
    { volumeMounts: [{ name: 'keys', mountPath: '/keys' }] },
    { volumes: [{ name: 'keys', secret: { secretName: 'not-there' } }] },
  ),
  'probe-fails': nodePod('its liveness probe fails', {
    livenessProbe: { exec: { command: ['fail'] }, periodSeconds: 1, failureThreshold: 1 },
  }),
  'back-off': nodePod('its container ends again and again', { image: 'registry.example/crashing:1' }),
  'init-fails': nodePod(
    'its init container fails',
    {},
    { initContainers: [container('init', { image: 'registry.example/crashing:1' })] },
  ),
  'no-room': nodePod('it asks for more than the node has', { resources: { requests: { cpu: '9000' } } }),
  'runtime-down': onRuntime('the container runtime does not answer', ({ parts: { runtime }, forMs }) => {
    runtime?.restart({ downMs: forMs });
    return () => runtime?.restart();
  }),
  'network-down': onRuntime('the network of the container runtime is not ready', ({ parts: { runtime } }) => {
    const condition = { type: 'NetworkReady', reason: 'NetworkPluginNotReady', message: 'the network plugin is not there' };
    runtime?.setCondition({ ...condition, status: false });
    return () => runtime?.setCondition({ type: 'NetworkReady', status: true, reason: '', message: '' });
  }),
  'no-sandbox': runtimeCall('the runtime makes no sandbox', {
    call: 'RunPodSandbox',
    fault: { kind: 'error', error: 'failed', message: 'no address is left in 10.244.0.0/16' },
  }),
  'no-start': runtimeCall('the runtime starts no container', {
    call: 'StartContainer',
    fault: { kind: 'error', error: 'failed', message: 'the command is not in the image' },
  }),
  'runtime-slow': runtimeCall('the runtime takes a second for a container', {
    call: 'CreateContainer',
    fault: { kind: 'latency', ms: 1000 },
  }),
};

/** What lets a pod wait for a node. */
export const scheduleFaults: Faults = {
  'no-fit': waitingPod('no node has so much room', { resources: { requests: { cpu: '64' } } }),
  gate: waitingPod('a gate holds it back', {}, { schedulingGates: [{ name: 'example.com/approval' }] }),
  'no-volume': waitingPod(
    'its volume is not there',
    {},
    { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'not-there' } }] },
  ),
  'no-label': waitingPod('no node has the label that it asks for', {}, { nodeSelector: { disk: 'ssd' } }),
  preempts: waitingPod('lesser pods have to go for it', { resources: { requests: { cpu: '6' } } }, { priority: 1000 }),
};

type Change = Exclude<keyof BrokenCalls, 'getPodStatus'>;

/** Every such call goes wrong, and a pod is replaced so that there is one. */
function calls(wrong: string, name: Change, answer: ((turn: { readonly ended: AbortSignal }) => Between) | (() => never)): Fault {
  return {
    kinds: ['virtual', 'schedule'],
    needsMemory: false,
    async begin({ parts: { provider, owners }, random, signal }) {
      const ending = new AbortController();
      if (provider !== undefined) provider.broken[name] = (...given) => answer({ ended: ending.signal })(...given);
      await owners.replace(random, signal);
      return {
        wrong,
        end() {
          if (provider !== undefined) provider.broken[name] = undefined;
          ending.abort();
        },
      };
    },
  };
}

/** The provider answers wrongly of some pods; at the end it says that they have changed. */
function onSome(wrong: string, answer: () => ReturnType<NonNullable<BrokenCalls['getPodStatus']>>): Fault {
  return {
    kinds: ['virtual', 'schedule'],
    needsMemory: false,
    begin({ parts: { provider }, some, names }) {
      const uids = new Set(some.map(({ uid }) => uid));
      const tell = (): void => {
        for (const uid of uids) provider?.notify(uid);
      };
      if (provider !== undefined) {
        provider.broken.getPodStatus = (pod, _, real) => (uids.has(pod.metadata.uid) ? answer() : real());
      }
      tell();
      return {
        wrong: `the provider is asked for ${names}, and ${wrong}`,
        end() {
          if (provider !== undefined) provider.broken.getPodStatus = undefined;
          tell();
        },
      };
    },
  };
}

function onRuntime(wrong: string, begin: (turn: FaultTurn) => () => void): Fault {
  return { kinds: ['node'], needsMemory: true, begin: (turn): FaultOn => ({ wrong, end: begin(turn) }) };
}

function runtimeCall(wrong: string, rule: RuntimeFaultRule): Fault {
  return onRuntime(wrong, ({ parts: { runtime } }) => {
    const handle = runtime?.fail({ ...rule, times: Number.POSITIVE_INFINITY });
    return () => handle?.remove();
  });
}

function container(name: string, more: Partial<Container>): Container {
  return { name, image: 'registry.example/web:1', ...more };
}

function podWith({ name, random, parts: { nodeName } }: FaultTurn, more: Partial<Container>, spec: Partial<PodSpec>): WirePod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${name}-${random.seed().toString(36)}` },
    spec: {
      ...(nodeName !== undefined && { nodeName }),
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      containers: [container('app', more)],
      ...spec,
    },
  };
}

function nodePod(wrong: string, more: Partial<Container>, spec: Partial<PodSpec> = {}): Fault {
  return { kinds: ['node'], needsMemory: true, begin: (turn) => aPod(turn, podWith(turn, more, spec), wrong) };
}

function waitingPod(wrong: string, more: Partial<Container>, spec: Partial<PodSpec> = {}): Fault {
  return { kinds: ['schedule'], needsMemory: true, begin: (turn) => aPod(turn, podWith(turn, more, spec), wrong) };
}

import type { Pod } from '../../../../src/api/json/types.ts';
import { ObjectStore } from '../../../../src/client/reflector/object-store.ts';
import type { ApiObject } from '../../../../src/client/resources/api-resource.ts';
import type { ResourceTransport } from '../../../../src/client/resources/resource-client.ts';
import type { MirrorPodReconcilerOptions } from '../../../../src/node/mirror/reconciler-options.ts';
import { forgettingExpiry, leavingWatchesOpen } from './broken-transports.ts';
import type { ManagedObjects } from './managed-objects.ts';
import type { PartsRule } from './rules.ts';

/** One of the parts broken on purpose, from outside. Simulation and fault suite must catch every one of them. */
export interface PartsMutant {
  readonly name: string;
  /** The promises it breaks: one of them must be the first that is found broken. */
  readonly breaks: readonly PartsRule[];
  readonly transport?: (transport: ResourceTransport) => ResourceTransport;
  readonly manager?: (manager: ManagedObjects) => ManagedObjects;
  readonly reconciler?: (options: MirrorPodReconcilerOptions) => MirrorPodReconcilerOptions;
  readonly store?: () => ObjectStore<ApiObject>;
}

const order: PartsRule = 'nothing older is given out after something newer';
const unnamed: PartsRule = 'nothing is given out that no pod names';
const readable: PartsRule = 'what a pod names can be read';
const openWatch: PartsRule = 'no watch is open for what no pod names';
const inTheEnd: PartsRule = 'everything is brought up to date';

const managerMutants: readonly PartsMutant[] = [
  { name: 'a manager serves an old answer', breaks: [order], manager: servingOldAnswers },
  {
    name: 'a manager serves a value of its own making',
    breaks: ['what is given out is what the server had'],
    manager: inventing,
  },
  { name: 'a manager never looks again', breaks: [inTheEnd], manager: neverLookingAgain },
  { name: 'a manager keeps what an updated pod no longer names', breaks: [unnamed, openWatch], manager: keepingOldReferences },
  { name: 'a manager forgets what an updated pod names', breaks: [readable], manager: forgettingUpdates },
  { name: 'a manager takes no new names of an updated pod', breaks: [readable], manager: ignoringUpdates },
  { name: 'a manager never lets go of a pod', breaks: [unnamed, openWatch], manager: neverLettingGo },
  { name: 'a manager keeps the references of a pod that has ended', breaks: [unnamed, openWatch], manager: overlookingTheEnd },
  { name: 'a manager leaves a watch open', breaks: ['nothing is left after stop', openWatch], transport: leavingWatchesOpen },
  { name: 'a manager never settles a read', breaks: ['a read settles'], manager: hangingAtTimes },
  { name: 'a manager shows a value in an error', breaks: ['no value is in a log or an error'], manager: tellingValues },
];

const mirrorMutants: readonly PartsMutant[] = [
  {
    name: 'a reconciler deletes without a uid',
    breaks: ['every delete names its pod', 'no other pod is touched'],
    reconciler: ({ mirrorPodClient, ...options }) => ({
      ...options,
      mirrorPodClient: {
        createMirrorPod: (...request) => mirrorPodClient.createMirrorPod(...request),
        getMirrorPod: (...request) => mirrorPodClient.getMirrorPod(...request),
        deleteMirrorPod: (podFullName, _uid, call) => mirrorPodClient.deleteMirrorPod(podFullName, undefined, call),
      },
    }),
  },
  {
    name: 'a reconciler deletes whatever has the name',
    breaks: ['no other pod is touched'],
    reconciler: ({ mirrorPodClient, ...options }) => ({
      ...options,
      mirrorPodClient: {
        createMirrorPod: (...request) => mirrorPodClient.createMirrorPod(...request),
        getMirrorPod: (...request) => mirrorPodClient.getMirrorPod(...request),
        deleteMirrorPod: async (podFullName, uid, call) => {
          const found = await mirrorPodClient.getMirrorPod(podFullName, call).catch(() => undefined);
          return mirrorPodClient.deleteMirrorPod(podFullName, found?.metadata?.uid ?? uid, call);
        },
      },
    }),
  },
  {
    name: 'a reconciler keeps orphans',
    breaks: [inTheEnd],
    reconciler: (options) => ({ ...options, isPodTerminating: () => true }),
  },
  {
    name: 'a reconciler never replaces a mirror pod',
    breaks: [inTheEnd],
    reconciler: ({ mirrorPodClient, ...options }) => ({
      ...options,
      mirrorPodClient: {
        createMirrorPod: (...request) => mirrorPodClient.createMirrorPod(...request),
        getMirrorPod: (...request) => mirrorPodClient.getMirrorPod(...request),
        deleteMirrorPod: async () => ({ deleted: true, heldByFinalizers: false }),
      },
    }),
  },
  {
    name: 'a reconciler hears of no change',
    breaks: [inTheEnd],
    reconciler: ({ podManager, ...options }) => {
      const first = podManager.getPodsAndMirrorPods();
      return {
        ...options,
        podManager: {
          getPodsAndMirrorPods: () => first,
          getPodByUID: (uid) => podManager.getPodByUID(uid),
          getMirrorPodByPod: (pod) => podManager.getMirrorPodByPod(pod),
          subscribe: () => () => {},
        },
      };
    },
  },
];

const reflectorMutants: readonly PartsMutant[] = [
  { name: 'a reflector goes on after a 410 without a list', breaks: [inTheEnd, order], transport: forgettingExpiry },
  { name: 'a reflector forgets what was deleted while it was cut off', breaks: [inTheEnd], store: keepingWhatIsGone },
];

export const partsMutants: readonly PartsMutant[] = [...managerMutants, ...mirrorMutants, ...reflectorMutants];

function servingOldAnswers(manager: ManagedObjects): ManagedObjects {
  const first = new Map<string, ApiObject>();
  let reads = 0;
  return {
    ...manager,
    read: async (namespace, name) => {
      const object = await manager.read(namespace, name);
      if (!first.has(name)) first.set(name, object);
      return ++reads % 10 === 0 ? (first.get(name) ?? object) : object;
    },
  };
}

function inventing(manager: ManagedObjects): ManagedObjects {
  let reads = 0;
  const read = async (namespace: string, name: string): Promise<ApiObject> => {
    const object = await manager.read(namespace, name);
    return ++reads % 20 === 0 ? ({ ...object, data: {} } as ApiObject) : object;
  };
  return { ...manager, read };
}

/** The first answer for a name is the last one, while the name is registered. */
function neverLookingAgain(manager: ManagedObjects): ManagedObjects {
  const known = new Map<string, ApiObject>();
  return {
    ...manager,
    read: async (namespace, name) => {
      const object = await manager.read(namespace, name).catch((error: unknown) => {
        known.delete(name);
        throw error;
      });
      const held = known.get(name) ?? object;
      known.set(name, held);
      return held;
    },
  };
}

/** Under another uid a pod's former references stay beside its new ones. */
function keepingOldReferences(manager: ManagedObjects): ManagedObjects {
  let updates = 0;
  const registerPod = (pod: Pod): void => {
    manager.registerPod(pod);
    if (++updates % 5 === 0) manager.registerPod({ ...pod, metadata: { ...pod.metadata, uid: `${pod.metadata?.uid}-old` } });
  };
  return { ...manager, registerPod };
}

function forgettingUpdates(manager: ManagedObjects): ManagedObjects {
  const known = new Set<string>();
  const registerPod = (pod: Pod): void => {
    const uid = pod.metadata?.uid ?? '';
    if (known.has(uid)) manager.unregisterPod(pod);
    else manager.registerPod(pod);
    known.add(uid);
  };
  return { ...manager, registerPod };
}

function ignoringUpdates(manager: ManagedObjects): ManagedObjects {
  const known = new Set<string>();
  const registerPod = (pod: Pod): void => {
    const uid = pod.metadata?.uid ?? '';
    if (!known.has(uid) || pod.status?.phase === 'Succeeded') manager.registerPod(pod);
    known.add(uid);
  };
  return { ...manager, registerPod };
}

function neverLettingGo(manager: ManagedObjects): ManagedObjects {
  return { ...manager, unregisterPod: () => {} };
}

function overlookingTheEnd(manager: ManagedObjects): ManagedObjects {
  return { ...manager, registerPod: ({ status: _, ...pod }) => manager.registerPod(pod as Pod) };
}

function hangingAtTimes(manager: ManagedObjects): ManagedObjects {
  let reads = 0;
  const read = (namespace: string, name: string): Promise<ApiObject> => {
    const answer = manager.read(namespace, name);
    if (++reads !== 10) return answer;
    answer.catch(() => {});
    return new Promise(() => {});
  };
  return { ...manager, read };
}

function tellingValues(manager: ManagedObjects): ManagedObjects {
  let reads = 0;
  return {
    ...manager,
    read: async (namespace, name) => {
      const object = await manager.read(namespace, name);
      if (++reads % 20 === 0) throw new Error(`cannot take ${JSON.stringify(object)}`);
      return object;
    },
  };
}

function keepingWhatIsGone(): ObjectStore<ApiObject> {
  const store = new ObjectStore<ApiObject>();
  const replace = store.replace.bind(store);
  const nameOf = ({ metadata }: ApiObject): string => metadata?.name ?? '';
  store.replace = (objects) => {
    const listed = [...objects];
    const names = new Set(listed.map(nameOf));
    replace([...store.list().filter((held) => !names.has(nameOf(held))), ...listed]);
  };
  return store;
}

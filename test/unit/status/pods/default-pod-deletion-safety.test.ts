import { describe, expect, it } from 'vitest';
import type { Pod, PodStatus } from '../../../../src/api/json/types.ts';
import type { RuntimeContainer, RuntimeContainerState } from '../../../../src/api/pod/runtime-pod.ts';
import type { Logger } from '../../../../src/base/logging/logger.ts';
import {
  DefaultPodDeletionSafety,
  type DefaultPodDeletionSafetyOptions,
  type RuntimeCacheProbe,
  type VolumesProbe,
} from '../../../../src/status/pods/pod-deletion-safety.ts';
import { unhandledRejectionsOf } from '../../../support/unhandled-rejections.ts';

const pod: Pod = { metadata: { name: 'a', namespace: 'd', uid: 'u' } };

type State = NonNullable<NonNullable<PodStatus['containerStatuses']>[number]['state']>;
const ended: State = { terminated: { exitCode: 0 } };
const statusOf = (...states: (State | undefined)[]): PodStatus => ({
  containerStatuses: states.map((state, i) => ({
    name: `c${i}`,
    image: '',
    imageID: '',
    ready: false,
    restartCount: 0,
    ...(state && { state }),
  })),
});

interface World {
  hasSynced: boolean;
  containers: RuntimeContainerState[];
  volumes: boolean;
  cgroup: boolean;
}
const gone: World = { hasSynced: true, containers: [], volumes: false, cgroup: false };

/** Every probe knows the one pod with uid `u`, and throws for any other. */
function probes(world: Partial<World>): DefaultPodDeletionSafetyOptions {
  const { hasSynced, containers, volumes, cgroup } = { ...gone, ...world };
  const known = <T>(uid: string | undefined, answer: T): T => {
    if (uid !== 'u') throw new Error(`no such pod ${uid}`);
    return answer;
  };
  const list = containers.map((state): RuntimeContainer => ({ name: 'c0', state }));
  return {
    runtimeCache: { hasSynced: () => hasSynced, getContainers: (uid) => known(uid, list) },
    volumes: { podVolumesExist: (uid) => known(uid, volumes) },
    cgroups: { podCgroupExists: ({ metadata }) => known(metadata?.uid, cgroup) },
  };
}

const safety = (world: Partial<World>, options: Partial<DefaultPodDeletionSafetyOptions> = {}) =>
  new DefaultPodDeletionSafety({ logger: null, ...probes(world), ...options });

const throws = (): never => {
  throw new Error('broken');
};

describe('DefaultPodDeletionSafety.podCouldHaveRunningContainers', () => {
  it.each<[answer: boolean, containers: RuntimeContainerState[]]>([
    [false, []],
    [false, ['exited', 'exited']],
    [true, ['exited', 'running']],
    [true, ['created']],
    [true, ['unknown']],
  ])('is %s while the runtime lists %j', (answer, containers) => {
    expect(safety({ containers }).podCouldHaveRunningContainers(pod)).toBe(answer);
  });

  it('is true until the runtime cache has synced once', () => {
    expect(safety({ hasSynced: false }).podCouldHaveRunningContainers(pod)).toBe(true);
  });

  it('does not ask about volumes and cgroups', () => {
    expect(safety({ volumes: true, cgroup: true }).podCouldHaveRunningContainers(pod)).toBe(false);
  });
});

describe('DefaultPodDeletionSafety.podResourcesAreReclaimed', () => {
  it('is true when everything is gone', () => {
    expect(safety({}).podResourcesAreReclaimed(pod, {})).toBe(true);
    expect(safety({}).podResourcesAreReclaimed(pod, statusOf(ended, { waiting: {} }))).toBe(true);
  });

  it.each<[what: string, world: Partial<World>]>([
    ['the runtime cache has not synced', { hasSynced: false }],
    ['the runtime lists an exited container', { containers: ['exited'] }],
    ['the runtime lists a running container', { containers: ['running'] }],
    ['volumes are there', { volumes: true }],
    ['the cgroup is there', { cgroup: true }],
  ])('is false while %s', (_what, world) => {
    expect(safety(world).podResourcesAreReclaimed(pod, statusOf(ended))).toBe(false);
  });

  it.each<[what: string, state: State | undefined]>([
    ['running', { running: {} }],
    ['in no state', {}],
    ['without a state', undefined],
  ])('is false while the status has a container that is %s', (_what, state) => {
    expect(safety({}).podResourcesAreReclaimed(pod, statusOf(ended, state))).toBe(false);
  });

  it('looks at regular containers of the status only', () => {
    const { containerStatuses = [] } = statusOf({ running: {} });
    const status: PodStatus = { initContainerStatuses: containerStatuses, ephemeralContainerStatuses: containerStatuses };
    expect(safety({}).podResourcesAreReclaimed(pod, status)).toBe(true);
  });

  it('does not wait for volumes that are to be kept', () => {
    expect(safety({ volumes: true }, { keepTerminatedPodVolumes: true }).podResourcesAreReclaimed(pod, {})).toBe(true);
  });

  it('does not wait for cgroups that pods do not have', () => {
    expect(safety({ cgroup: true }, { cgroupsPerQOS: false }).podResourcesAreReclaimed(pod, {})).toBe(true);
  });

  it('asks only the probes it has', () => {
    const { runtimeCache } = probes({});
    expect(new DefaultPodDeletionSafety({ logger: null, runtimeCache }).podResourcesAreReclaimed(pod, {})).toBe(true);
  });
});

describe('DefaultPodDeletionSafety with a probe that fails', () => {
  const { runtimeCache } = probes({});
  // @ts-expect-error an asynchronous probe is a mistake that a JavaScript caller can make
  const asynchronous: RuntimeCacheProbe = { hasSynced: () => true, getContainers: async () => [] };
  // @ts-expect-error likewise
  const asyncVolumes: VolumesProbe = { podVolumesExist: async () => false };

  it.each<[what: string, options: Partial<DefaultPodDeletionSafetyOptions>, couldRun: boolean]>([
    ['hasSynced throws', { runtimeCache: { ...runtimeCache, hasSynced: throws } }, true],
    ['getContainers throws', { runtimeCache: { ...runtimeCache, getContainers: throws } }, true],
    ['getContainers is asynchronous', { runtimeCache: asynchronous }, true],
    ['podVolumesExist throws', { volumes: { podVolumesExist: throws } }, false],
    ['podVolumesExist is asynchronous', { volumes: asyncVolumes }, false],
    ['podCgroupExists throws', { cgroups: { podCgroupExists: throws } }, false],
  ])('keeps the pod when %s', (_what, options, couldRun) => {
    expect(safety({}, options).podResourcesAreReclaimed(pod, {})).toBe(false);
    expect(safety({}, options).podCouldHaveRunningContainers(pod)).toBe(couldRun);
  });

  it('lets no probe that rejects end the process', async () => {
    const rejects = async (): Promise<never> => throws();
    const rejecting: object = {
      runtimeCache: { hasSynced: () => true, getContainers: rejects },
      volumes: { podVolumesExist: rejects },
    };
    const subjects = [
      rejecting,
      { runtimeCache: { hasSynced: rejects, getContainers: rejects } },
      { volumes: { podVolumesExist: rejects } },
    ];
    const answers: boolean[] = [];
    const unhandled = await unhandledRejectionsOf(() => {
      for (const options of subjects) answers.push(safety({}, options).podResourcesAreReclaimed(pod, {}));
    });
    expect([answers, unhandled]).toEqual([[false, false, false], []]);
  });

  it('keeps a pod without a uid', () => {
    expect(safety({}).podCouldHaveRunningContainers({})).toBe(true);
    expect(safety({}).podResourcesAreReclaimed({}, {})).toBe(false);
  });

  it('says in the log what failed, and answers as before when the log fails too', () => {
    const lines: unknown[] = [];
    const write = (fields: object, message: string) => void lines.push({ ...fields, message });
    const logger: Logger = { debug: write, info: write, warn: write, error: write };
    const volumes = { podVolumesExist: throws };
    safety({}, { logger, volumes }).podResourcesAreReclaimed(pod, {});
    expect(lines).toEqual([
      {
        podNamespace: 'd',
        podName: 'a',
        podUID: 'u',
        method: 'volumes.podVolumesExist',
        err: new Error('broken'),
        help: 'Mend the method that is named: until it answers, the pod counts as one that could still run.',
        message: 'it could not be asked what is left of a pod; the pod is kept, and its terminal phase waits',
      },
      {
        podNamespace: 'd',
        podName: 'a',
        podUID: 'u',
        reason: 'volumes are still there',
        message: 'pod resources are not reclaimed yet',
      },
    ]);
    const broken: Logger = { debug: throws, info: throws, warn: throws, error: throws };
    expect(safety({}, { logger: broken, volumes }).podResourcesAreReclaimed(pod, {})).toBe(false);
  });
});

describe('new DefaultPodDeletionSafety', () => {
  it.each<[option: string, value: unknown]>([
    ['runtimeCache', undefined],
    ['runtimeCache', { hasSynced: () => true }],
    ['volumes', null],
    ['cgroups', {}],
    ['logger', {}],
    ['keepTerminatedPodVolumes', 'no'],
    ['cgroupsPerQOS', 1],
  ])('refuses %s = %j', (option, value) => {
    const options = { ...probes({}), [option]: value } as unknown as DefaultPodDeletionSafetyOptions;
    expect(() => new DefaultPodDeletionSafety(options)).toThrow(`Expected \`${option}\` to be`);
  });

  it.each([
    ['volume', { podVolumesExist: () => true }],
    ['cgroup', { podCgroupExists: () => true }],
  ])('refuses the unknown option %s: a misspelt probe would never be asked', (option, value) => {
    const options = { ...probes({}), [option]: value };
    expect(() => new DefaultPodDeletionSafety(options)).toThrow(`Expected \`options.${option}\` to be absent`);
  });

  it.each([undefined, null, 5])('refuses %o for its options', (options) => {
    const construct = () => new DefaultPodDeletionSafety(options as unknown as DefaultPodDeletionSafetyOptions);
    expect(construct).toThrow('Expected `options` to be an object');
  });
});

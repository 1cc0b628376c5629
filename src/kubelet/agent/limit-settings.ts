import { invalidOption } from '../../base/errors.ts';
import { integerOption, numberOption, oneOfOption, optionOfType } from '../../base/options.ts';

const enforcements = [
  ...(['pods', 'system-reserved', 'kube-reserved', 'system-reserved-compressible', 'kube-reserved-compressible'] as const),
  'none',
] as const;

/** A group of cgroups that is limited to what the node's settings give it, or `none` of them. */
export type NodeEnforcement = (typeof enforcements)[number];

/** What the kernel is told about the limits of pods, and of the machine's own services. Names and rules are KubeletConfiguration's. */
export interface LimitSettings {
  /**
   * Which groups are limited to what the node's settings give them. `pods`: all pods together get what `systemReserved` and
   * `kubeReserved` leave, without it all that the machine has. `system-reserved` and `kube-reserved`: the groups
   * `systemReservedCgroup` and `kubeReservedCgroup` get at most what is reserved for them; with `-compressible` processor time alone
   * is shared out so. `none` alone: none of them. Default: `pods`, or `none` without `cgroupsPerQOS`.
   */
  readonly enforceNodeAllocatable?: readonly NodeEnforcement[];
  /** The cgroup of the machine's own services, such as `/system.slice`. It must be there when the agent starts. Default: none. */
  readonly systemReservedCgroup?: string;
  /** The cgroup of the agent and the container runtime, such as `/kube.slice`. It must be there when the agent starts. Default: none. */
  readonly kubeReservedCgroup?: string;
  /** The length of a CFS period, which limits of processor time are counted in: from 1 to 1000. Default 100. */
  readonly cpuCFSQuotaPeriodMs?: number;
  /**
   * True: the kernel ends one process of a container that has no memory left, not all of them. False needs cgroups of version 2.
   * Default: false with version 2, true with version 1.
   */
  readonly singleProcessOOMKill?: boolean;
  /**
   * With the feature gate `MemoryQoS`: how much of what a container may take beyond what it asks for it gets before the kernel slows
   * it down: above 0, at most 1. Default 0.9.
   */
  readonly memoryThrottlingFactor?: number;
  /** `TieredReservation`, with the feature gate `MemoryQoS`: the kernel keeps for pods the memory that they ask for. Default `None`. */
  readonly memoryReservationPolicy?: 'None' | 'TieredReservation';
  /**
   * `LimitedSwap`: a burstable container gets swap in proportion to the memory that it asks for. It needs cgroups of version 2.
   * Default `NoSwap`: no container gets any.
   */
  readonly swapBehavior?: 'NoSwap' | 'LimitedSwap';
  /**
   * How many ids of users and groups a pod with `hostUsers: false` gets: a multiple of 65,536. They come from those of the user
   * `kubelet`, where there is one and `getsubids` says which, or else from all but the first ones. Default 65,536.
   */
  readonly userNamespaceIDsPerPod?: number;
}

/** The kernel's ids are shared out in such parts. */
const idsUnit = 65_536;

/** Those that have a default. */
export const limitDefaults = {
  systemReservedCgroup: '',
  kubeReservedCgroup: '',
  cpuCFSQuotaPeriodMs: 100,
  memoryThrottlingFactor: 0.9,
  memoryReservationPolicy: 'None',
  swapBehavior: 'NoSwap',
  userNamespaceIDsPerPod: idsUnit,
} satisfies LimitSettings;

/** Those that have none. */
export const optionalLimits = ['enforceNodeAllocatable', 'singleProcessOOMKill'] as const satisfies (keyof LimitSettings)[];

type CheckedLimits = LimitSettings &
  Required<Pick<LimitSettings, keyof typeof limitDefaults>> & {
    readonly cgroupsPerQOS: boolean;
    readonly featureGates: Readonly<Record<string, boolean>>;
  };

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value: the rules of pkg/kubelet/apis/config/validation, v1.36.3. */
export function requireLimits(settings: CheckedLimits): void {
  numberOption('cpuCFSQuotaPeriodMs', settings.cpuCFSQuotaPeriodMs, 1, 1000);
  if (settings.singleProcessOOMKill !== undefined) optionOfType('singleProcessOOMKill', settings.singleProcessOOMKill, 'boolean');
  numberOption('memoryThrottlingFactor', settings.memoryThrottlingFactor, Number.MIN_VALUE, 1);
  oneOfOption('swapBehavior', settings.swapBehavior, ['NoSwap', 'LimitedSwap']);
  const { memoryReservationPolicy: policy, featureGates } = settings;
  oneOfOption('memoryReservationPolicy', policy, ['None', 'TieredReservation']);
  if (policy !== 'None' && featureGates.MemoryQoS !== true) {
    throw invalidOption('memoryReservationPolicy', '"None" without the feature gate MemoryQoS', policy);
  }
  const ids = integerOption('userNamespaceIDsPerPod', settings.userNamespaceIDsPerPod, idsUnit);
  if (ids % idsUnit !== 0 || ids >= 2 ** 32) {
    throw invalidOption('userNamespaceIDsPerPod', `a multiple of ${idsUnit} below ${2 ** 32}`, ids);
  }
  requireEnforcements(settings);
}

/** Throws ERR_INVALID_OPTION where the machine's cgroups cannot do what is asked. */
export function requireLimitsOfVersion({ singleProcessOOMKill, swapBehavior }: LimitSettings, version: 1 | 2): void {
  if (version === 2) return;
  const why = 'since the cgroups of this machine are of version 1';
  if (singleProcessOOMKill === false) throw invalidOption('singleProcessOOMKill', `left out or true, ${why}`, false);
  if (swapBehavior === 'LimitedSwap') throw invalidOption('swapBehavior', `"NoSwap", ${why}`, swapBehavior);
}

function requireEnforcements(settings: CheckedLimits): void {
  const { cgroupsPerQOS, systemReservedCgroup, kubeReservedCgroup } = settings;
  for (const [name, group] of Object.entries({ systemReservedCgroup, kubeReservedCgroup })) {
    const isName = typeof group === 'string' && !group.split('/').includes('..') && !group.includes('\0');
    if (!isName) throw invalidOption(name, 'the name of a cgroup without ".."', group);
  }
  const name = 'enforceNodeAllocatable';
  const given = settings.enforceNodeAllocatable ?? [];
  if (!Array.isArray(given)) throw invalidOption(name, `a list of ${enforcements.join(', ')}`, given);
  for (const [index, each] of given.entries()) {
    oneOfOption(`${name}[${index}]`, each, enforcements);
    if (given.indexOf(each) !== index) throw invalidOption(name, 'a list without the same twice', each);
  }
  if (given.includes('none')) {
    if (given.length > 1) throw invalidOption(name, 'a list with nothing beside "none"', given.join(', '));
    return;
  }
  for (const [whose, group] of [
    ['system', systemReservedCgroup],
    ['kube', kubeReservedCgroup],
  ] as const) {
    const both = [`${whose}-reserved`, `${whose}-reserved-compressible`] as const;
    const asked = both.filter((each) => given.includes(each));
    if (asked.length === 2) throw invalidOption(name, `a list with one of ${both.join(' and ')} at most`, given.join(', '));
    if (asked.length > 0 && group === '') {
      throw invalidOption(`${whose}ReservedCgroup`, `the name of a cgroup, since ${name} has "${asked[0]}"`, group);
    }
  }
  if (given.length > 0 && !cgroupsPerQOS) {
    throw invalidOption('cgroupsPerQOS', `true, since ${name} has "${given[0]}"`, cgroupsPerQOS);
  }
}

/** Which groups are limited. */
export function enforcementsOf({
  enforceNodeAllocatable,
  cgroupsPerQOS,
}: Pick<CheckedLimits, 'enforceNodeAllocatable' | 'cgroupsPerQOS'>): readonly NodeEnforcement[] {
  return enforceNodeAllocatable ?? (cgroupsPerQOS ? ['pods'] : []);
}

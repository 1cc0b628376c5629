// Behaviour of pkg/api/v1/pod (container restart rules), v1.36.3, with its default feature gates.

import { lookupByName } from '../json/json.ts';
import type { Pod } from '../json/types.ts';

export type PodSpec = NonNullable<Pod['spec']>;
export type Container = PodSpec['containers'][number];

/** A volume as a pod's spec has it. */
export type SpecVolume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number];
export type ContainerRestartRule = NonNullable<Container['restartPolicyRules']>[number];

/** The first rule that speaks of this exit code. A rule without exit codes, or with an unknown operator, matches nothing. */
export function findMatchingRestartRule(container: Container, exitCode: number): ContainerRestartRule | undefined {
  const found = rulesOf(container).find((rule) => {
    const { operator, values } = rule?.exitCodes ?? {};
    const listed = Array.isArray(values) && values.includes(exitCode);
    if (operator === 'In') return listed;
    return operator === 'NotIn' && !listed;
  });
  return found ?? undefined;
}

/** True when any init or regular container may have the whole pod restarted in place. */
export function hasRestartAllContainersRule(spec: PodSpec | undefined): boolean {
  return [spec?.initContainers, spec?.containers].some((containers) =>
    containers?.some((container) => rulesOf(container).some((rule) => rule?.action === 'RestartAllContainers')),
  );
}

/** A list that no apiserver has checked may be none, and have members that are no rules. */
function rulesOf({ restartPolicyRules }: Container): readonly (ContainerRestartRule | null | undefined)[] {
  return Array.isArray(restartPolicyRules) ? restartPolicyRules : [];
}

/**
 * May this container run again after this exit code? Its own policy comes first, and of that its rules; the pod's policy
 * decides only where the container has none (or an unknown one). A pod policy that is empty or unknown counts as Always.
 */
export function containerShouldRestart(container: Container, podRestartPolicy: string | undefined, exitCode: number): boolean {
  if (!container.restartPolicy) return policyRestarts(podRestartPolicy, exitCode) ?? true;
  const action = findMatchingRestartRule(container, exitCode)?.action;
  if (action === 'Restart' || action === 'RestartAllContainers') return true;
  return policyRestarts(container.restartPolicy, exitCode) ?? policyRestarts(podRestartPolicy, exitCode) ?? true;
}

/** Undefined for a policy this version does not know. */
function policyRestarts(policy: string | undefined, exitCode: number): boolean | undefined {
  if (policy === 'Always') return true;
  if (policy === 'OnFailure') return exitCode !== 0;
  return policy === 'Never' ? false : undefined;
}

/** Finds the containers of a pod: how many there are, and how many questions name them, is their pod's choice. */
export interface NamedContainers {
  readonly regular: (name: string) => Container | undefined;
  readonly init: (name: string) => Container | undefined;
}

/** Made once for all questions about a pod. */
export function namedContainers({ spec }: Pod): NamedContainers {
  return { regular: lookupByName(spec?.containers), init: lookupByName(spec?.initContainers) };
}

/** True for a sidecar: an init container that keeps running beside the regular ones. */
export function isRestartableInitContainer(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

const containerIDPattern = /^[^:/\s]+:\/\/\S+$/;

/** True for `type://id`, as container runtimes name containers. */
export function isContainerID(value: unknown): value is string {
  return typeof value === 'string' && containerIDPattern.test(value);
}

/** No real name of an image is longer; a pattern is not tried on what is. */
export const longestImage = 4096;
const shown = 255;

/** An image's name as people and the server are told it: shortened where it is longer than any image's name. */
export function shownImage(image: string): string {
  return image.length > longestImage ? `${image.slice(0, shown)}…` : image;
}

/** What containers of every sort have. */
type AnyContainer = Omit<Container, 'restartPolicy' | 'restartPolicyRules'>;

/** The containers of every sort: init containers, regular ones, ephemeral ones. */
export function containersOfPod({ spec }: Pod): readonly AnyContainer[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])];
}

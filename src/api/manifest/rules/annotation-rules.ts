// Behaviour of pkg/apis/core/validation ValidatePodSpecificAnnotations, v1.36.3.
import { check, ManifestFault } from '../text/invalid-manifest.ts';
import { readJson } from '../text/read-json.ts';
import { containersOf, type PodSpec } from '../types/pod-parts.ts';
import { typedValue } from '../types/typed-value.ts';
import { checkTolerations, type Toleration } from './scheduling-rules.ts';
import { checkDescendingPath } from './text-rules.ts';

interface Annotations {
  readonly [key: string]: string;
}

interface Profile {
  readonly type: string;
  readonly localhostProfile?: string;
}

const tolerationsKey = 'scheduler.alpha.kubernetes.io/tolerations';
const deletionCostKey = 'controller.kubernetes.io/pod-deletion-cost';
const seccompPodKey = 'seccomp.security.alpha.kubernetes.io/pod';
const seccompContainerPrefix = 'container.seccomp.security.alpha.kubernetes.io/';
const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/';
const localhost = 'localhost/';

export function checkPodAnnotations(annotations: Annotations, spec: PodSpec): void {
  const { [tolerationsKey]: tolerations, [deletionCostKey]: deletionCost } = annotations;
  if (tolerations) checkTolerationsAnnotation(tolerations);
  if (deletionCost !== undefined) {
    const holds =
      /^(?:0|-?0*[1-9][0-9]*|-0+)$/.test(deletionCost) && !/^0./.test(deletionCost) && Math.abs(Number(deletionCost)) <= 2 ** 31;
    check(holds && Number(deletionCost) !== 2 ** 31, annotationPath(deletionCostKey), 'an integer of 32 bits', deletionCost);
  }
  const names = new Set(containersOf(spec).map(({ container }) => container.name));
  for (const [key, value] of Object.entries(annotations)) {
    if (key === seccompPodKey || key.startsWith(seccompContainerPrefix)) checkSeccomp(key, value);
    if (key.startsWith(appArmorPrefix)) checkAppArmor(key, value, names);
  }
  checkAgreement(annotations, spec);
}

function annotationPath(key: string): string {
  return `metadata.annotations[${key}]`;
}

function checkTolerationsAnnotation(text: string): void {
  const path = annotationPath(tolerationsKey);
  try {
    checkTolerations(path, typedValue('[]#Toleration', readJson(text), path) as unknown as Toleration[]);
  } catch (cause) {
    throw new ManifestFault(path, `a list of tolerations in JSON (${(cause as Error).message})`, text, { cause });
  }
}

function checkSeccomp(key: string, value: string): void {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(value)) return;
  check(value.startsWith(localhost), annotationPath(key), 'a seccomp profile', value);
  checkDescendingPath(annotationPath(key), value.slice(localhost.length));
}

function checkAppArmor(key: string, value: string, containerNames: ReadonlySet<string>): void {
  const name = key.slice(appArmorPrefix.length);
  check(containerNames.has(name), annotationPath(key), 'for a container of the pod', name);
  const holds = ['', 'runtime/default', 'unconfined'].includes(value) || value.startsWith(localhost);
  check(holds, annotationPath(key), 'an AppArmor profile', value);
}

/** Where an annotation and a field name a profile of one container, they name the same. */
function checkAgreement(annotations: Annotations, spec: PodSpec): void {
  const { seccompProfile, appArmorProfile } = spec.securityContext ?? {};
  checkMatch(annotations, seccompPodKey, seccompProfile, ['runtime/default', 'docker/default']);
  for (const { container } of containersOf(spec)) {
    const { securityContext } = container;
    checkMatch(annotations, seccompContainerPrefix + container.name, securityContext?.seccompProfile, [
      'runtime/default',
      'docker/default',
    ]);
    if (spec.os?.name === 'windows') continue;
    checkMatch(annotations, appArmorPrefix + container.name, securityContext?.appArmorProfile ?? appArmorProfile, [
      'runtime/default',
    ]);
  }
}

function checkMatch(annotations: Annotations, key: string, profile: Profile | undefined, defaults: readonly string[]): void {
  if (profile === undefined || !Object.hasOwn(annotations, key)) return;
  const allowed = { Unconfined: ['unconfined'], RuntimeDefault: defaults, Localhost: [localhost + profile.localhostProfile] };
  const values = allowed[profile.type as keyof typeof allowed] ?? [];
  check(
    values.includes(annotations[key] ?? ''),
    annotationPath(key),
    "the profile of the container's security context",
    annotations[key],
  );
}

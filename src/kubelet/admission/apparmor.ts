// Behaviour of pkg/security/apparmor, v1.36.3.
import type { Pod } from '../../api/json/types.ts';
import type { AdmissionCheck } from './check.ts';

type Profile = NonNullable<NonNullable<NonNullable<Pod['spec']>['securityContext']>['appArmorProfile']>;

const annotationPrefix = 'container.apparmor.security.beta.kubernetes.io/';

/** Refuses a pod that asks for AppArmor on a machine without it. `isEnabled` is asked for each such pod. */
export function appArmorSupport(isEnabled: () => boolean): AdmissionCheck {
  return ({ pod }) => {
    const isNew = (pod.status?.phase ?? 'Pending') === 'Pending';
    if (!isNew || !asksForAppArmor(pod)) return undefined;
    if (!isEnabled()) return refused('AppArmor is not enabled on the host');
    const isNameless = profilesOf(pod).some(({ type, localhostProfile }) => type === 'Localhost' && !localhostProfile?.trim());
    return isNameless ? refused('invalid empty AppArmor profile name') : undefined;
  };
}

function asksForAppArmor(pod: Pod): boolean {
  if (profilesOf(pod).some(({ type }) => type !== 'Unconfined')) return true;
  const annotations = Object.entries(pod.metadata?.annotations ?? {});
  return annotations.some(([key, value]) => key.startsWith(annotationPrefix) && value !== 'unconfined');
}

function profilesOf({ spec }: Pod): Profile[] {
  const containers = [spec?.containers, spec?.initContainers, spec?.ephemeralContainers].flatMap((list) => list ?? []);
  const contexts = [spec?.securityContext, ...containers.map(({ securityContext }) => securityContext)];
  return contexts.flatMap((context) => (context?.appArmorProfile == null ? [] : [context.appArmorProfile]));
}

function refused(why: string): { reason: string; message: string } {
  return { reason: 'AppArmor', message: `Cannot enforce AppArmor: ${why}` };
}

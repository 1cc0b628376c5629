import type { Pod } from '../../api/json/types.ts';
import { isStatusManagerError } from '../../base/errors.ts';
import { helped } from '../problem-help.ts';

const notAttached =
  /\b(?:Mount|Map)Volume\.WaitForAttach failed|Volume not attached according to node status|added to the list of VolumesInUse/;

/** The kind of a problem, and what would help; undefined where the message says that itself. */
export interface KindAndHelp {
  readonly kind: string;
  readonly help: string | undefined;
}

/** So many causes behind an error are looked at. */
const deepestCause = 8;

/** What a config map or a secret lacks, by the kubelet's words for it. */
export function missingWords({ metadata }: Pod, text: string): KindAndHelp | undefined {
  const [, sort, name] = /\b(configmap|secret) "([^"]{1,253})" not found/.exec(text) ?? [];
  const object = `${metadata?.namespace ?? ''}/${name}`;
  if (sort !== undefined) return helped(sort === 'secret' ? 'secret-missing' : 'config-map-missing', { OBJECT: object });
  const [, key, kind, full] = /couldn't find key (\S{1,253}) in (ConfigMap|Secret) (\S{1,510})/.exec(text) ?? [];
  if (key !== undefined) {
    const called = kind === 'Secret' ? 'secret' : 'config map';
    return helped('key-missing', { KEY: key, OBJECT: `the ${called} ${full}` });
  }
  const [, absent] = /references non-existent (?:config|secret) key: (\S{1,253})/.exec(text) ?? [];
  return absent === undefined
    ? undefined
    : helped('key-missing', { KEY: absent, OBJECT: 'the config map or secret of the volume' });
}

/** A disk that has no room is no fault of the pod's spec. */
export function diskWords(text: string): KindAndHelp | undefined {
  return /\bENOSPC:|: no space left on device\b/.test(text) ? helped('disk-full') : undefined;
}

/** Why the volumes of a pod could not be made. */
export function volumeWords(pod: Pod, error: unknown, text: string): KindAndHelp {
  // the message says what would help
  if (isOverBudget(deepest(error, isOverBudget))) return { kind: 'over-budget', help: undefined };
  const missing = missingWords(pod, text);
  if (missing !== undefined) return missing;
  if (text.includes('failed to fetch token')) {
    const account = `${pod.metadata?.namespace ?? ''}/${pod.spec?.serviceAccountName ?? 'default'}`;
    return helped('service-account-token', { OBJECT: account });
  }
  if (/hostPath type check failed|invalid HostPath|is an invalid volume type/.test(text)) return helped('host-path');
  if (notAttached.test(text)) return helped('volume-attach');
  if (/list of registered CSI drivers|the driver \S+ says:|no CSIDriver object|not supported by driver/.test(text))
    return helped('csi-driver');
  if (/error processing PVC|was not created for pod|has volumeMode|NodeAffinity check failed|ReadWriteOncePod/.test(text))
    return helped('volume-claim');
  return diskWords(text) ?? helped(text.includes('is not supported by this agent') ? 'volume-type' : 'volume');
}

function isOverBudget(error: unknown): boolean {
  return isStatusManagerError(error, 'ERR_OVER_BUDGET');
}

/** The first error of the chain of causes that fits; undefined where none does. */
/** The first of an error and its causes that fits. */
export function deepest(error: unknown, fits: (one: unknown) => boolean): unknown {
  let one = error;
  for (let depth = 0; depth < deepestCause && one instanceof Error; depth += 1) {
    if (fits(one)) return one;
    one = one.cause;
  }
  return undefined;
}

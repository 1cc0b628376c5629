import { goQuote } from '../../api/json/go-quote.ts';
import type { Pod } from '../../api/json/types.ts';
import { containersOfPod } from '../../api/pod/pod-containers.ts';
import { errorText, isStatusManagerError } from '../../base/errors.ts';
import { textBeginning } from '../../base/text-beginning.ts';
import { servicesUnread } from '../environment/cluster-services.ts';
import { asConfigError } from '../environment/config-error.ts';
import { type EnvironmentObjects, MissingValueError, type ObjectKind } from '../environment/environment.ts';
import { type KindAndHelp, missingWords, volumeWords } from '../environment/missing-words.ts';
import { helped } from '../problem-help.ts';

/** An event of a pod that is a warning. */
export interface ToldEvent {
  /** A word, such as `MandatorySecretNotFound`. */
  readonly reason: string;
  /** A sentence. */
  readonly message: string;
}

/** Why a pod is not handed to its provider yet. */
export interface HeldPod extends KindAndHelp {
  /** In words, without a full stop. */
  readonly message: string;
  /** Why each container waits, by its name: the reason and the message of its status. The others wait for them. */
  readonly waits: ReadonlyMap<string, { readonly reason: string; readonly message: string }>;
  /** What is told of it. */
  readonly events: readonly ToldEvent[];
}

/** So many events are written of one look at a pod. */
const mostEvents = 10;
const longestText = 500;

/** Containers whose environment cannot be made: what failed, by the container's name. An empty name stands for all. */
export function heldByContainers(pod: Pod, failures: ReadonlyMap<string, unknown>): HeldPod {
  const waits = new Map<string, { reason: string; message: string }>();
  const events: ToldEvent[] = [];
  for (const { name } of containersOfPod(pod)) {
    const error = failures.get(name) ?? failures.get('');
    if (error === undefined) continue;
    const { reason, message } = asConfigError(error);
    waits.set(name, { reason, message });
    // the kubelet's words, under the reason by which a virtual-kubelet's readers find it
    events.push({ reason: mandatoryReason(error), message: `Error: ${message}` });
  }
  const [[name, error] = ['', undefined]] = failures;
  const text = errorText(error);
  const what =
    name === '' ? 'the environment of the pod could not be made' : `the environment of container ${name} could not be made`;
  const kind = missingWords(pod, text) ?? overBudget(error) ?? servicesWords(text) ?? helped('create-container-config-error');
  return { ...kind, message: `${what}: ${textBeginning(text, longestText)}`, waits, events: unique(events) };
}

/** Volumes whose files cannot be made: what failed, by the volume's name. */
export function heldByVolumes(pod: Pod, failures: ReadonlyMap<string, unknown>): HeldPod {
  const events = Array.from(failures, ([volume, error]) => {
    const message = `MountVolume.SetUp failed for volume ${goQuote(volume)} : ${textBeginning(errorText(error), longestText)}`;
    return { reason: 'FailedMount', message };
  });
  const [first] = failures.values();
  const kind = volumeWords(pod, first, errorText(first));
  return {
    ...kind,
    message: `the volumes of the pod could not be made: ${events[0]?.message}`,
    waits: new Map(),
    events: unique(events),
  };
}

function servicesWords(text: string): KindAndHelp | undefined {
  return text.startsWith(servicesUnread) ? helped('services-unread') : undefined;
}

function overBudget(error: unknown): KindAndHelp | undefined {
  // the message says what would help
  return isStatusManagerError(error, 'ERR_OVER_BUDGET') ? { kind: 'over-budget', help: undefined } : undefined;
}

/** As virtual-kubelet names it; the kubelet's for what has no such name. */
function mandatoryReason(error: unknown): string {
  if (!(error instanceof MissingValueError)) return 'Failed';
  const { kind, lacks } = error.source;
  if (lacks === 'read') return `FailedToReadMandatory${kind}`;
  return `Mandatory${kind}${lacks === 'key' ? 'Key' : ''}NotFound`;
}

interface Reference {
  readonly kind: ObjectKind;
  readonly name: string;
  readonly key: string | undefined;
  /** What is left out without it. */
  readonly what: string;
}

/** What is told of sources that are missing and may be, under virtual-kubelet's reasons. */
export async function optionalNotes(pod: Pod, objects: EnvironmentObjects): Promise<readonly ToldEvent[]> {
  const namespace = pod.metadata?.namespace ?? '';
  const notes: ToldEvent[] = [];
  for (const { kind, name, key, what } of optionalReferences(pod)) {
    if (notes.length >= mostEvents) break;
    const keys = await keysOf(objects, kind, namespace, name);
    const object = `${kind === 'Secret' ? 'secret' : 'configmap'} ${goQuote(name)}`;
    if (keys === undefined) {
      notes.push({ reason: `Optional${kind}NotFound`, message: `${object} not found: ${what}` });
    } else if (key !== undefined && !keys.includes(key)) {
      notes.push({ reason: `Optional${kind}KeyNotFound`, message: `key ${goQuote(key)} not found in ${object}: ${what}` });
    }
  }
  return unique(notes);
}

/** Undefined for an object that is not there. Any other failure has held the pod back before. */
async function keysOf(objects: EnvironmentObjects, kind: ObjectKind, namespace: string, name: string) {
  try {
    const read = kind === 'Secret' ? objects.getSecret(namespace, name) : objects.getConfigMap(namespace, name);
    return Object.keys((await read).data ?? {});
  } catch (error) {
    if (isStatusManagerError(error, 'ERR_NOT_FOUND')) return undefined;
    throw error;
  }
}

function* optionalReferences(pod: Pod): Generator<Reference> {
  for (const { name: container, envFrom, env } of containersOfPod(pod)) {
    for (const { configMapRef, secretRef } of envFrom ?? []) {
      const ref = configMapRef ?? secretRef;
      if (ref?.optional !== true) continue;
      const what = `container ${goQuote(container)} goes without its variables`;
      yield { kind: configMapRef ? 'ConfigMap' : 'Secret', name: ref.name ?? '', key: undefined, what };
    }
    for (const { name, valueFrom } of env ?? []) {
      const { configMapKeyRef, secretKeyRef } = valueFrom ?? {};
      const ref = configMapKeyRef ?? secretKeyRef;
      if (ref?.optional !== true) continue;
      const what = `container ${goQuote(container)} goes without the variable ${goQuote(name)}`;
      yield { kind: configMapKeyRef ? 'ConfigMap' : 'Secret', name: ref.name ?? '', key: ref.key, what };
    }
  }
}

function unique(events: readonly ToldEvent[]): readonly ToldEvent[] {
  const byText = new Map(events.map((event) => [`${event.reason} ${event.message}`, event]));
  return [...byText.values()].slice(0, mostEvents);
}

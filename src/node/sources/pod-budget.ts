import { mebibyte, memberBytes, objectBytes } from '../../api/json/bytes.ts';
import { type JsonPlace, jsonPlaces, parseWithout } from '../../api/json/json-places.ts';
import type { WirePod, WirePodStatus } from '../../api/json/types.ts';
import {
  configHashAnnotationKey,
  configMirrorAnnotationKey,
  configSourceAnnotationKey,
  isTerminalPhase,
  podUIDOf,
} from '../../api/pod/pod-identity.ts';
import { LateMap } from '../../base/concurrency/late-collections.ts';
import { integerOption, requireKnownOptions } from '../../base/options.ts';

/** How much memory the pods of a node may take: as JSON values, text by its length and a share for each member, in bytes. */
export interface PodBudgetOptions {
  /** The most of one pod. Default 2 MiB. A pod of 1 MB of text takes about that; one of 1.5 MB of small members takes up to 8 MiB. */
  readonly maxBytesPerPod?: number;
  /** The most of all pods together. A pod of at most 128 KiB, and one that runs already, may go over it, up to twice as much. Default 16 MiB. */
  readonly maxBytes?: number;
}

interface Held {
  bytes: number;
  /** Why only an outline of the pod is kept; undefined where it is kept whole. */
  readonly refusal: string | undefined;
}

/** A large pod that has been read. */
interface ReadPod {
  readonly uid: string | undefined;
  readonly version: string | undefined;
  /** What it would take, also what was not made of it. */
  readonly bytes: number;
  /** True: no more was made of it than an outline. */
  readonly isOutline: boolean;
}

const defaults = { maxBytesPerPod: 2 * mebibyte, maxBytes: 16 * mebibyte };
/** A pod that takes no more has room as long as there is any. */
const shareOfPod = 128 * 1024;
/** In an event of a watch its members, those of its pod, and those of metadata, spec and status are looked at one by one. */
const depthOfEvent = 3;
/** Every part of an outline takes at most this. The whole status that an agent writes of a refused pod takes less. */
const largestPartOfOutline = 8 * 1024;
/** Members of the metadata of a pod: what nobody here reads, and what others may add to a pod that runs. */
const unread = ['managedFields'];
const addedByOthers = ['labels', 'annotations'];
/** These annotations mark a mirror pod, and are always kept: without them the node would run the static pod twice. */
const keptAnnotations = [configMirrorAnnotationKey, configHashAnnotationKey, configSourceAnnotationKey];

/**
 * Decides what is kept of each pod, so that pods of any size cannot take all memory. A pod that is too large when it comes is kept in
 * outline, and `refusal` says why: it is not to run. One that runs and becomes too large keeps the labels and annotations that it had.
 */
export class PodBudget {
  readonly #limits: Required<PodBudgetOptions>;
  readonly #held = new LateMap<string, Held>();
  #bytes = 0;
  /** What was read last, until it is kept. */
  #read: ReadPod | undefined;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: PodBudgetOptions = {}) {
    requireKnownOptions('podBudget', options, Object.keys(defaults));
    const { maxBytesPerPod = defaults.maxBytesPerPod, maxBytes = defaults.maxBytes } = options;
    this.#limits = {
      maxBytesPerPod: integerOption('podBudget.maxBytesPerPod', maxBytesPerPod, 0),
      maxBytes: integerOption('podBudget.maxBytes', maxBytes, 0),
    };
  }

  /** What the pods take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Why the pod is kept in outline; undefined for one that is kept whole, and for one that is not known. */
  refusal(podUID: string): string | undefined {
    return this.#held.get(podUID)?.refusal;
  }

  /**
   * Reads one event of a watch, in JSON.parse's place. What `keep` would drop of a large pod is not made: 1.5 MB of small members
   * would hold the event loop for 100 ms. `keep` is to be asked of the pod before the next event is read.
   */
  readonly readEvent = (line: Buffer): unknown => {
    const pod = line.length > shareOfPod ? jsonPlaces(line, depthOfEvent)?.members.get('object') : undefined;
    this.#read = undefined;
    if (pod === undefined) return JSON.parse(line.toString('utf8'));
    const large = [...pod.members.values()].flatMap(({ members }) => [...members.values()].filter(isNoPartOfOutline));
    const outline = parseWithout(line, large) as { readonly object: WirePod };
    const { uid, resourceVersion: version } = outline.object.metadata ?? {};
    const metadata = pod.members.get('metadata')?.members ?? new Map<string, JsonPlace>();
    const bytes = pod.bytes - weightOf(metadata, unread);
    const { maxBytesPerPod } = this.#limits;
    const fitsBare = bytes - weightOf(metadata, addedByOthers) <= maxBytesPerPod;
    const isRunning = this.#held.has(uid ?? '') || hasStarted(outline.object);
    const isOutline = bytes > maxBytesPerPod && !(fitsBare && isRunning);
    this.#read = { uid, version, bytes, isOutline };
    if (bytes <= maxBytesPerPod) return parseWithout(line, placesOf(metadata, unread));
    const event = isOutline ? outline : parseWithout(line, placesOf(metadata, [...unread, ...addedByOthers]));
    return withKeptAnnotations(event, line, metadata);
  };

  /** What is to be kept of a pod. `previous`: what was kept of its version before. The result has the pod's own resourceVersion. */
  keep(pod: WirePod, previous: WirePod | undefined): WirePod {
    const uid = podUIDOf(pod);
    const known = this.#held.get(uid);
    if (known?.refusal !== undefined) return this.#hold(uid, outlineOf(pod), known.refusal);
    const read = this.#takeRead(pod);
    const bytes = read?.bytes ?? objectBytes(pod);
    const isRunning = known !== undefined || hasStarted(pod);
    const refusal = this.#refusal(bytes, isRunning, known?.bytes ?? 0);
    if (refusal === undefined) return this.#hold(uid, pod, undefined, bytes);
    if (isRunning && !read?.isOutline) {
      const bare = withLabelsOf(previous, pod);
      const bareBytes = objectBytes(bare);
      const fits = this.#refusal(bareBytes, true, known?.bytes ?? 0) === undefined;
      if (fits) return this.#hold(uid, bare, undefined, bareBytes);
    }
    const isAsBefore = known !== undefined && previous !== undefined;
    return isAsBefore ? this.#hold(uid, asBefore(previous, pod), undefined) : this.#hold(uid, outlineOf(pod), refusal);
  }

  /** The pod is gone. */
  forget(podUID: string): void {
    this.#bytes -= this.#held.get(podUID)?.bytes ?? 0;
    this.#held.delete(podUID);
  }

  #takeRead({ metadata = {} }: WirePod): ReadPod | undefined {
    const read = this.#read;
    this.#read = undefined;
    return read?.uid === metadata.uid && read?.version === metadata.resourceVersion ? read : undefined;
  }

  #hold(uid: string, pod: WirePod, refusal: string | undefined, bytes = objectBytes(pod)): WirePod {
    this.forget(uid);
    this.#held.set(uid, { bytes, refusal });
    this.#bytes += bytes;
    return pod;
  }

  /** Why there is no room for so many bytes; `before` of them are counted already. */
  #refusal(bytes: number, isRunning: boolean, before: number): string | undefined {
    const { maxBytesPerPod, maxBytes } = this.#limits;
    if (bytes > maxBytesPerPod) {
      return `the pod takes ${bytes} bytes of memory, and this node holds ${maxBytesPerPod} for one pod; a larger podBudget.maxBytesPerPod would let it in`;
    }
    const others = this.#bytes - before;
    if (others + bytes <= (isRunning || bytes <= shareOfPod ? 2 : 1) * maxBytes) return undefined;
    return `the pods of this node take ${others} of the ${maxBytes} bytes that it holds for them, and there is no room for the ${bytes} of this one; a larger podBudget.maxBytes would let it in`;
  }
}

function isNoPartOfOutline({ bytes }: JsonPlace): boolean {
  return bytes > largestPartOfOutline;
}

function placesOf(members: ReadonlyMap<string, JsonPlace>, names: readonly string[]): JsonPlace[] {
  return names.flatMap((name) => members.get(name) ?? []);
}

/** Gives the pod of an event the annotations that are always kept. The others of a large pod were not made. */
function withKeptAnnotations(event: unknown, line: Buffer, metadata: ReadonlyMap<string, JsonPlace>): unknown {
  const place = metadata.get('annotations');
  const pod = (event as { readonly object: WirePod }).object;
  if (place === undefined || pod.metadata === undefined) return event;
  const text = line.subarray(place.start, place.end);
  const members = jsonPlaces(text, 1)?.members;
  const kept: Record<string, string> = {};
  for (const name of keptAnnotations) {
    const value = members?.get(name);
    if (value !== undefined) kept[name] = JSON.parse(text.toString('utf8', value.start, value.end));
  }
  pod.metadata.annotations = kept;
  return event;
}

/** Undefined where the pod has none of them. A value of an absurd length becomes empty: that the annotation is there says enough. */
function annotationsToKeep({ metadata }: WirePod): Record<string, string> | undefined {
  const kept: Record<string, string> = {};
  for (const name of keptAnnotations) {
    const value = metadata?.annotations?.[name];
    if (value !== undefined) kept[name] = objectBytes(value) <= largestPartOfOutline ? value : '';
  }
  return Object.keys(kept).length > 0 ? kept : undefined;
}

/** What these members take. */
function weightOf(members: ReadonlyMap<string, JsonPlace>, names: readonly string[]): number {
  let bytes = 0;
  for (const name of names) {
    const place = members.get(name);
    if (place !== undefined) bytes += memberBytes + name.length + place.bytes;
  }
  return bytes;
}

/** This node has taken it before, and it is not over. */
function hasStarted({ status }: WirePod): boolean {
  return status?.startTime != null && !isTerminalPhase(status.phase);
}

/**
 * Enough to tell of the pod, and to let it go. The status is part of it: an agent that did not find what it had written would write it
 * again every ten seconds, and each time the apiserver would work on the whole pod.
 */
function outlineOf(pod: WirePod): WirePod {
  const { apiVersion, kind, metadata = {}, spec, status } = pod;
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  return present({
    apiVersion,
    kind,
    metadata: present({
      name,
      namespace,
      uid,
      resourceVersion,
      creationTimestamp,
      deletionTimestamp,
      deletionGracePeriodSeconds,
      annotations: annotationsToKeep(pod),
    }),
    spec: present({
      nodeName: spec?.nodeName,
      terminationGracePeriodSeconds: spec?.terminationGracePeriodSeconds,
      containers: [],
    }),
    status: smallParts(status),
  });
}

/** The version before, with what the server has decided since, and what has become of its status. */
function asBefore(previous: WirePod, { metadata = {}, status }: WirePod): WirePod {
  const { resourceVersion, generation, deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  const decided = present({ resourceVersion, generation, deletionTimestamp, deletionGracePeriodSeconds });
  return {
    ...previous,
    metadata: { ...previous.metadata, ...decided },
    ...(status && { status: { ...previous.status, ...smallParts(status) } }),
  };
}

/** The pod, with the labels and annotations of its version before. */
function withLabelsOf(previous: WirePod | undefined, pod: WirePod): WirePod {
  const { labels: _labels, annotations: _annotations, ...metadata } = pod.metadata ?? {};
  const { labels, annotations = annotationsToKeep(pod) } = previous?.metadata ?? {};
  return { ...pod, metadata: { ...metadata, ...present({ labels, annotations }) } };
}

/** The members of a status that an outline has room for. */
function smallParts(status: WirePodStatus | null | undefined): WirePodStatus {
  const parts = Object.entries(status ?? {}).filter(([, part]) => part !== null && objectBytes(part) <= largestPartOfOutline);
  return Object.fromEntries(parts);
}

function present<T extends object>(members: { [Name in keyof T]: T[Name] | undefined }): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

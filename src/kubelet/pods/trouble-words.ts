import type { Pod } from '../../api/json/types.ts';
import { errorText } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { deepest, diskWords, missingWords, volumeWords } from '../../node/environment/missing-words.ts';
import { type HelpedKind, helped } from '../../node/problem-help.ts';
import { networkNotReadyMessage } from '../../node/workers/pod-lanes.ts';
import { isRuntimeError } from '../runtime/container-runtime.ts';
import type { TroubleWords } from './pod-troubles.ts';
import type { ContainerStartError } from './start-failures.ts';

/** How a container ended last. */
interface LastEnd {
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
}

const longestEnd = 300;

const mostErrors = 3;

/** So deep are errors looked for that hold several. */
const deepestErrors = 2;

// What was thrown may be anything: words are made of what can be read of it, and no function here throws in its place.

/** What a pod needs before its containers could not be made: network, cgroup, volumes. */
export function preparationWords(pod: Pod, error: unknown): TroubleWords {
  const text = errorText(error);
  if (text.includes(networkNotReadyMessage)) return { ...helped('network-not-ready'), message: `the pod waits: ${text}` };
  if (text.startsWith(cgroupText)) {
    return { ...helped('pod-cgroup'), message: `the cgroup of the pod could not be made: ${causeText(error)}` };
  }
  const kind = callGuarded(() => volumeWords(pod, error, text), ignoreFailure) ?? helped('volume');
  return { ...kind, message: `the volumes of the pod could not be mounted: ${text}` };
}

export const cgroupText = 'unable to ensure pod container exists';

/** The claims of a pod could not be made ready, or not be given back. */
export function claimWords(error: unknown): TroubleWords {
  const text = errorText(error);
  const what = text.startsWith('unprepare') ? 'be given back' : 'be made ready';
  return { ...helped('resource-claims'), message: `the resource claims of the pod could not ${what}: ${text}` };
}

/** The sandbox could not be made, or what may not go on could not be ended. */
export function syncWords(error: unknown): TroubleWords {
  const text = errorText(error);
  const words = (): TroubleWords => {
    if (isRuntimeAway(error)) return { ...helped('runtime-down'), message: `the container runtime did not answer: ${text}` };
    if (!text.includes('pod sandbox')) return { ...helped('sync'), message: `the pod could not be synced: ${callText(error)}` };
    const cause = causeText(error);
    const kind = /\bcni\b|network/i.test(cause) ? 'sandbox-network' : 'sandbox';
    return { ...helped(kind), message: `the sandbox of the pod could not be made: ${cause}` };
  };
  return callGuarded(words, ignoreFailure) ?? { ...helped('sync'), message: `the pod could not be synced: ${text}` };
}

/** A pod that is to end could not be ended. */
export function endWords(error: unknown): TroubleWords {
  const told = (kind: HelpedKind, text: string): TroubleWords => ({
    ...helped(kind),
    message: `the pod could not be ended: ${text}`,
  });
  const words = (): TroubleWords => told(isRuntimeAway(error) ? 'runtime-down' : 'pod-end', callText(error));
  return callGuarded(words, ignoreFailure) ?? told('pod-end', errorText(error));
}

/** What a pod that runs no more has left could not be removed. */
export function cleanUpWords(error: unknown): TroubleWords {
  const text = errorText(error);
  const kind = text.includes('UnmountVolume.TearDown failed') ? 'csi-driver' : 'clean-up';
  return { ...helped(kind), message: `what the pod has left could not be removed: ${text}` };
}

/** A hook `preStop` failed. Its container is ended all the same. `why`: without what the hook is and what it said. */
export function preStopWords(containerName: string, why: string): TroubleWords {
  return { ...helped('pre-stop-hook'), message: `the preStop hook of the container ${containerName} failed: ${why}` };
}

/** A pod takes longer to end than it may. */
export function lateEndWords(graceSeconds: number, containerNames: readonly string[]): TroubleWords {
  const running =
    containerNames.length === 0 ? '' : `, and the runtime has not said that it stopped ${containerNames.join(', ')}`;
  return { ...helped('grace-over'), message: `the pod has not ended within its grace period of ${graceSeconds} s${running}` };
}

/** What registries say, the most telling first: one that hides what it has says "denied" for what is not there. */
const ofRegistry: readonly { readonly kind: HelpedKind; readonly says: RegExp }[] = [
  { kind: 'image-credentials', says: /unauthorized|forbidden|authorization|authentication|denied|no basic auth/i },
  { kind: 'image-not-found', says: /not found|manifest unknown|name unknown|does not exist/i },
];

const pullReasons: ReadonlySet<string> = new Set(['ErrImagePull', 'ImagePullBackOff']);

/** By the reason: the kind, and what failed; `NAME` stands for the name of the container. */
const ofReason: Readonly<Record<string, { readonly kind: HelpedKind; readonly what: string }>> = {
  InvalidImageName: { kind: 'invalid-image-name', what: 'the image of the container NAME has no name that is one' },
  ErrImageNeverPull: {
    kind: 'err-image-never-pull',
    what: 'the image of the container NAME is not on the node, and may not be pulled',
  },
  ImageInspectError: {
    kind: 'image-inspect-error',
    what: 'the runtime could not say whether it has the image of the container NAME',
  },
  RegistryUnavailable: { kind: 'registry-unavailable', what: 'the image of the container NAME could not be pulled' },
  SignatureValidationFailed: {
    kind: 'signature-validation-failed',
    what: 'the image of the container NAME could not be pulled',
  },
  CreateContainerConfigError: {
    kind: 'create-container-config-error',
    what: 'the configuration of the container NAME could not be made',
  },
  CreateContainerError: { kind: 'create-container-error', what: 'the container NAME could not be made' },
  RunContainerError: { kind: 'run-container-error', what: 'the container NAME could not be started' },
  PostStartHookError: { kind: 'post-start-hook-error', what: 'the postStart hook of the container NAME failed' },
};

/** Why a container could not be started. `end`: how it ended last, where it waits for that. */
export function containerWords(
  pod: Pod,
  { name, image = '' }: { readonly name: string; readonly image?: string | undefined },
  failure: Pick<ContainerStartError, 'reason' | 'message'>,
  end: LastEnd | undefined,
): TroubleWords {
  const { reason, message } = failure;
  if (reason === 'CrashLoopBackOff') return crashWords(name, message, end);
  if (pullReasons.has(reason)) {
    const said = withoutName(message, image);
    const { kind } = ofRegistry.find(({ says }) => says.test(said)) ?? { kind: 'image-pull' };
    const what = `the image ${JSON.stringify(image)} of the container ${name} could not be pulled`;
    return { ...helped(kind), message: `${what}: ${message}` };
  }
  const known = Object.hasOwn(ofReason, reason) ? ofReason[reason] : undefined;
  const what = (known?.what ?? `the container NAME waits with ${reason}`).replace('NAME', () => name);
  const missing = reason === 'CreateContainerConfigError' ? missingWords(pod, message) : undefined;
  return { ...(missing ?? diskWords(message) ?? helped(known?.kind ?? 'container')), message: `${what}: ${message}` };
}

/** What a registry says of an image, without the image's names: they may hold words of their own, such as `authorization`. */
function withoutName(message: string, image: string): string {
  return namesOfImage(image).reduce(withoutWhole, message);
}

/** The reference and what begins it, the longest first, and as requests and runtimes write it. None of them is a plain word. */
function namesOfImage(image: string): readonly string[] {
  const [tagged = ''] = image.split('@', 1);
  const colon = tagged.indexOf(':', tagged.lastIndexOf('/') + 1);
  const [named, tag] = colon < 0 ? [tagged, ''] : [tagged.slice(0, colon), tagged.slice(colon + 1)];
  const slash = named.indexOf('/');
  const host = slash < 0 ? '' : named.slice(0, slash);
  const [hostName = ''] = host.split(':', 1);
  const inRequests = [`v2/${named.slice(slash + 1)}`, `manifests/${tag}`];
  const names = [image, tagged, named, ...inRequests, `library/${named}`, `"${named}"`, host, hostName];
  return names.filter((name) => /[/:@."]/.test(name));
}

/** `message` without `name`, where that is no part of a longer word. */
function withoutWhole(message: string, name: string): string {
  const parts: string[] = [];
  let from = 0;
  for (let at = message.indexOf(name); at >= 0; at = message.indexOf(name, at + name.length)) {
    const end = at + name.length;
    if (isLetter(message.charAt(at - 1)) || isLetter(message.charAt(end))) continue;
    parts.push(message.slice(from, at));
    from = end;
  }
  return [...parts, message.slice(from)].join(' ');
}

function isLetter(character: string): boolean {
  return /^\w$/.test(character);
}

function crashWords(name: string, message: string, end: LastEnd | undefined): TroubleWords {
  if (end?.reason === 'OOMKilled') {
    const text = `the container ${name} had no memory left, and the kernel ended it: ${endText(end)}`;
    return { ...helped('oom-killed'), message: text };
  }
  const text = `the container ${name} ends again and again: ${end === undefined ? message : endText(end)}`;
  return { ...helped('crash-loop-back-off', { OBJECT: name }), message: text };
}

function endText({ exitCode, reason, message }: LastEnd): string {
  const words = message.trim().slice(-longestEnd);
  return `exit code ${exitCode}${reason === '' ? '' : ` (${reason})`}${words === '' ? '' : `: ${words}`}`;
}

function isRuntimeAway(error: unknown): boolean {
  return isRuntimeError(
    deepest(error, (one) => isRuntimeError(one)),
    'unavailable',
  );
}

/** What an error says; that of a call to the runtime with the name of the call. An error may hold itself. */
function callText(error: unknown, depth = 0): string {
  const several = depth < deepestErrors ? deepest(error, (one) => one instanceof AggregateError) : undefined;
  if (several instanceof AggregateError && several.errors.length > 0) {
    const texts = several.errors.slice(0, mostErrors).map((one) => callText(one, depth + 1));
    return texts.join('; ');
  }
  const found = deepest(error, (one) => isRuntimeError(one));
  return isRuntimeError(found) ? `${found.call} failed: ${errorText(found)}` : errorText(error);
}

/** What the error behind this one says. */
function causeText(error: unknown): string {
  const cause: unknown = callGuarded(() => (error instanceof Error ? error.cause : undefined), ignoreFailure);
  return errorText(cause ?? error);
}

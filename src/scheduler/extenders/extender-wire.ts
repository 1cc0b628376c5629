// What HTTPExtender of pkg/scheduler/extender.go sends and takes, with the types of kube-scheduler/extender/v1, v1.36.3.

import { isJsonObject } from '../../api/json/json.ts';
import type { WireNode, WirePod } from '../../api/json/types.ts';
import { shownValue } from '../../base/errors.ts';
import type { PodInfo } from '../nodes/pod-info.ts';

/** A node where a pod would fit without these pods. */
export interface PreemptionCandidate {
  /** The node that has room once they are gone. */
  readonly nodeName: string;
  /** At least one; the most important first. */
  readonly victims: readonly PodInfo[];
  /** How many of the victims a disruption budget would have kept. */
  readonly budgetViolations: number;
}

/** What an extender has made of the nodes. */
interface FilterAnswer {
  /** Undefined: it has named none in a way that counts. */
  readonly nodeNames: readonly string[] | undefined;
  /** Why the end of other pods may help a node that was left out, by its name. */
  readonly failed: ReadonlyMap<string, string>;
  /** Why it would not. */
  readonly unresolvable: ReadonlyMap<string, string>;
  /** Empty: all is well. */
  readonly error: string;
}

/** What is left of a candidate. */
export interface AnsweredVictims {
  readonly nodeName: string;
  /** Undefined: the extender has given null for it. */
  readonly podUIDs: readonly string[] | undefined;
  readonly budgetViolations: number;
}

/** The body of a question about nodes: whole, or by name. */
export function nodesRequest(
  pod: WirePod,
  nodes: readonly { readonly name: string; readonly node: WireNode }[],
  byName: boolean,
): string {
  const names = byName ? goJson(nodes.map(({ name }) => name)) : 'null';
  const items = byName ? 'null' : `{"metadata":{},"items":[${nodes.map(({ node }) => objectJson(node)).join(',')}]}`;
  return `{"Pod":${objectJson(pod)},"Nodes":${items},"NodeNames":${names}}`;
}

/** The body of a question about victims: the pods whole, or by uid. */
export function preemptRequest(pod: WirePod, candidates: readonly PreemptionCandidate[], byName: boolean): string {
  const sorted = candidates.toSorted((one, other) => Buffer.compare(Buffer.from(one.nodeName), Buffer.from(other.nodeName)));
  const entries = sorted.map(({ nodeName, victims, budgetViolations }) => {
    const pods = victims.map((victim) => (byName ? goJson({ UID: victim.uid }) : objectJson(victim.pod)));
    return `${goJson(nodeName)}:{"Pods":[${pods.join(',')}],"NumPDBViolations":${budgetViolations}}`;
  });
  const map = `{${entries.join(',')}}`;
  const [whole, meta] = byName ? ['null', map] : [map, 'null'];
  return `{"Pod":${objectJson(pod)},"NodeNameToVictims":${whole},"NodeNameToMetaVictims":${meta}}`;
}

/** The body of a request to bind a pod. */
export function bindRequest({ name, namespace, uid }: Pick<PodInfo, 'name' | 'namespace' | 'uid'>, nodeName: string): string {
  return goJson({ PodName: name, PodNamespace: namespace, PodUID: uid, Node: nodeName });
}

/** Throws an error that says what is wrong with the answer, as the others do. */
export function filterAnswer(body: string, byName: boolean): FilterAnswer {
  const known = ['Nodes', 'NodeNames', 'FailedNodes', 'FailedAndUnresolvableNodes', 'Error'];
  const { Nodes, NodeNames, FailedNodes, FailedAndUnresolvableNodes, Error: error } = goObject('the answer', parsed(body), known);
  const listed = goList('NodeNames', NodeNames)?.map((name, index) => goText(`NodeNames[${index}]`, name));
  const whole = Nodes === undefined ? undefined : (goList('Nodes.items', goObject('Nodes', Nodes, ['items']).items) ?? []);
  const named = whole?.map((node, index) => nodeNameOf(`Nodes.items[${index}]`, node));
  return {
    nodeNames: byName ? (listed ?? named) : named,
    failed: goTexts('FailedNodes', FailedNodes),
    unresolvable: goTexts('FailedAndUnresolvableNodes', FailedAndUnresolvableNodes),
    error: goText('Error', error),
  };
}

/** The scores of each node, added up, by its name. */
export function prioritizeAnswer(body: string): ReadonlyMap<string, number> {
  const scores = new Map<string, number>();
  for (const [index, item] of (goList('the answer', parsed(body)) ?? []).entries()) {
    const { Host, Score } = goObject(`[${index}]`, item, ['Host', 'Score']);
    const host = goText(`[${index}].Host`, Host);
    scores.set(host, (scores.get(host) ?? 0) + goInteger(`[${index}].Score`, Score));
  }
  return scores;
}

export function preemptAnswer(body: string): readonly AnsweredVictims[] {
  const { NodeNameToMetaVictims: map } = goObject('the answer', parsed(body), ['NodeNameToMetaVictims']);
  return goEntries('NodeNameToMetaVictims', map).map(([nodeName, value]) => {
    const at = `NodeNameToMetaVictims.${nodeName}`;
    const { Pods, NumPDBViolations } = goObject(at, value, ['Pods', 'NumPDBViolations']);
    const podUIDs = goList(`${at}.Pods`, Pods)?.map((pod, index) => {
      const { UID } = goObject(`${at}.Pods[${index}]`, pod, ['UID']);
      return goText(`${at}.Pods[${index}].UID`, UID);
    });
    return { nodeName, podUIDs, budgetViolations: goInteger(`${at}.NumPDBViolations`, NumPDBViolations) };
  });
}

/** What the extender said was wrong; empty where nothing is. */
export function bindAnswer(body: string): string {
  return goText('Error', goObject('the answer', parsed(body), ['Error']).Error);
}

/** An object as the scheduler's types write it: without what says its type, and without the fields' managers, which it does not keep. */
function objectJson(object: WirePod | WireNode): string {
  const { kind: _kind, apiVersion: _version, ...rest } = object;
  if (rest.metadata?.managedFields === undefined) return goJson(rest);
  const { managedFields: _managers, ...metadata } = rest.metadata;
  return goJson({ ...rest, metadata });
}

const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** As Go writes it: these five characters stand in texts alone, and never as they are. */
function goJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/g, (character) => escapes[character] ?? character);
}

// Go takes a null member for an absent one, and does not look at the case of its name.

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new Error('its answer is no JSON');
  }
}

function wrong(what: string, rule: string, value: unknown): Error {
  return new Error(`expected ${what.slice(0, 200)} to be ${rule}, got ${shownValue(value)}`);
}

function goEntries(what: string, value: unknown): readonly (readonly [string, unknown])[] {
  if (value === undefined || value === null) return [];
  if (!isJsonObject(value)) throw wrong(what, 'an object', value);
  return Object.entries(value);
}

/** The members of these names that are not null. Of two that differ in case the last one counts. */
function goObject(what: string, value: unknown, names: readonly string[]): Partial<Record<string, unknown>> {
  const byCase = new Map(names.map((name) => [name.toLowerCase(), name]));
  const found: Partial<Record<string, unknown>> = {};
  for (const [key, member] of goEntries(what, value)) {
    const name = byCase.get(key.toLowerCase());
    if (name !== undefined && member !== null) found[name] = member;
  }
  return found;
}

function goList(what: string, value: unknown): readonly unknown[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw wrong(what, 'a list', value);
  return value;
}

function goText(what: string, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw wrong(what, 'text', value);
  return value;
}

function goInteger(what: string, value: unknown): number {
  if (value === undefined || value === null) return 0;
  if (!Number.isSafeInteger(value)) throw wrong(what, 'a whole number', value);
  return Number(value);
}

function goTexts(what: string, value: unknown): ReadonlyMap<string, string> {
  return new Map(goEntries(what, value).map(([key, text]) => [key, goText(`${what}.${key}`, text)]));
}

function nodeNameOf(what: string, value: unknown): string {
  const { metadata } = goObject(what, value, ['metadata']);
  return goText(`${what}.metadata.name`, goObject(`${what}.metadata`, metadata, ['name']).name);
}

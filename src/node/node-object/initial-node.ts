// Behaviour of pkg/kubelet/kubelet_node_status.go initialNode, v1.36.3.

import type { WireNode, WireTaint } from '../../api/json/types.ts';
import { invalidOption } from '../../base/errors.ts';
import { isLabelKey, isLabelValue, labelKeyRule, labelValueRule } from '../../base/names.ts';
import { requireKnownOptions } from '../../base/options.ts';
import { type ResolvedStatus, requireRecord } from './advertised-status.ts';

/** What a node is created with, beside its status. */
export interface NodeIdentity {
  /** Beside the labels for the host name, the operating system and the architecture, which may be replaced here. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Default: none. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** What keeps pods away that do not tolerate it. Default: none. */
  readonly taints?: readonly WireTaint[];
  /** The machine's name for a cloud: `provider://id`. */
  readonly providerID?: string;
}

export const identityMembers = ['labels', 'annotations', 'taints', 'providerID'] as const;
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** The node as it is created, without conditions. Throws ERR_INVALID_OPTION, naming the member, the rule and the value. */
export function initialNode(nodeName: string, identity: NodeIdentity, { nodeInfo }: ResolvedStatus): WireNode {
  const { labels = {}, annotations = {}, taints = [], providerID } = identity;
  if (providerID !== undefined && (typeof providerID !== 'string' || providerID === '')) {
    throw invalidOption('providerID', 'a non-empty string', providerID);
  }
  const { operatingSystem: os, architecture: arch } = nodeInfo;
  const own = {
    'kubernetes.io/hostname': nodeName,
    'kubernetes.io/os': os,
    'kubernetes.io/arch': arch,
    'beta.kubernetes.io/os': os,
    'beta.kubernetes.io/arch': arch,
  };
  const defaults = Object.fromEntries(Object.entries(own).filter(([, value]) => isLabelValue(value)));
  const isGiven = Object.keys(annotations).length > 0;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: nodeName,
      labels: { ...defaults, ...checkedLabels(labels) },
      ...(isGiven ? { annotations: checkedAnnotations(annotations) } : {}),
    },
    spec: {
      ...(providerID === undefined ? {} : { providerID }),
      ...(taints.length === 0 ? {} : { taints: checkedTaints(taints) }),
    },
  };
}

function checkedLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  requireRecord('labels', labels);
  for (const [key, value] of Object.entries(labels)) {
    if (!isLabelKey(key)) throw invalidOption('labels, the key', labelKeyRule, key);
    if (!isLabelValue(value)) throw invalidOption(`labels["${key}"]`, labelValueRule, value);
  }
  return { ...labels };
}

function checkedAnnotations(annotations: Readonly<Record<string, string>>): Record<string, string> {
  requireRecord('annotations', annotations);
  for (const [key, value] of Object.entries(annotations)) {
    if (!isLabelKey(key)) throw invalidOption('annotations, the key', labelKeyRule, key);
    if (typeof value !== 'string') throw invalidOption(`annotations["${key}"]`, 'text', value);
  }
  return { ...annotations };
}

function checkedTaints(taints: readonly WireTaint[]): WireTaint[] {
  if (!Array.isArray(taints)) throw invalidOption('taints', 'a list', taints);
  const seen = new Set<string>();
  return taints.map((taint: WireTaint, index) => {
    const name = `taints[${index}]`;
    requireKnownOptions(name, taint, ['key', 'value', 'effect', 'timeAdded']);
    const { key, value = '', effect } = taint;
    if (!isLabelKey(key)) throw invalidOption(`${name}.key`, labelKeyRule, key);
    if (!isLabelValue(value)) throw invalidOption(`${name}.value`, labelValueRule, value);
    if (!effects.includes(effect)) throw invalidOption(`${name}.effect`, `one of ${effects.join(', ')}`, effect);
    const pair = `${key}:${effect}`;
    if (seen.has(pair)) throw invalidOption(name, 'the only taint of its key and effect', pair);
    seen.add(pair);
    return { ...taint };
  });
}

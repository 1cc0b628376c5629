import type { WireNode } from '../../src/api/json/types.ts';
import type { Step } from './workload.ts';

/** Nodes are named in the order of their numbers, so that the labels are given in that of their names, as upstream does. */
export function nodeOf({ template, label }: Extract<Step, { kind: 'nodes' }>, index: number): WireNode {
  const { generateName = 'node-', ...metadata } = template.metadata ?? {};
  const name = `${generateName}${String(index).padStart(5, '0')}`;
  const labels = { ...metadata.labels, 'kubernetes.io/hostname': name };
  const value = label?.values[index % label.values.length];
  return {
    ...template,
    metadata: {
      ...metadata,
      name,
      labels: value === undefined || label === undefined ? labels : { ...labels, [label.key]: value },
    },
  };
}

import type { EventOutline } from './shared-watch.ts';

/** An event of a pod, as the apiserver writes it: a type's fields come in the order of Go's struct, labels after the version. */
const podEvent =
  /^\{"type":"(?:ADDED|MODIFIED|DELETED)","object":\{(?:"kind":"Pod","apiVersion":"v1",)?"metadata":\{"name":"[^"\\]+",(?:"generateName":"[^"\\]*",)?"namespace":"[^"\\]+",(?:"selfLink":"[^"\\]*",)?"uid":"[^"\\]*","resourceVersion":"(\d+)"/;
const nodeEvent =
  /^\{"type":"(?:ADDED|MODIFIED|DELETED)","object":\{(?:"kind":"Node","apiVersion":"v1",)?"metadata":\{"name":"([^"\\]+)",(?:"generateName":"[^"\\]*",)?(?:"selfLink":"[^"\\]*",)?"uid":"[^"\\]*","resourceVersion":"(\d+)"/;
/** Names are at most 253 characters each. */
const longestBeginning = 1024;
const nameMember = '"nodeName"';
const longestName = 253;
/** A pod may have labels of this name; with more of them the event is read as a whole. */
const mostNames = 4;

/**
 * What the event of a pod is about. Its text holds `"nodeName"` only as the name of a member: within a text the quotes would have
 * backslashes. So the name of the pod's node is among the values of these members, and there may be more of them, such as labels.
 */
export function podEventOutline(line: Buffer): EventOutline | undefined {
  const version = podEvent.exec(line.toString('latin1', 0, longestBeginning))?.[1];
  if (version === undefined) return undefined;
  const keys: string[] = [];
  for (let at = line.indexOf(nameMember); at !== -1; at = line.indexOf(nameMember, at)) {
    at += nameMember.length;
    const value = /^:"([^"\\]*)"/.exec(line.toString('latin1', at, at + longestName + 3))?.[1];
    if (value === undefined || keys.length === mostNames) return undefined;
    keys.push(value);
  }
  return { version, keys };
}

export function nodeEventOutline(line: Buffer): EventOutline | undefined {
  const [, name, version] = nodeEvent.exec(line.toString('latin1', 0, longestBeginning)) ?? [];
  return name === undefined || version === undefined ? undefined : { version, keys: [name] };
}

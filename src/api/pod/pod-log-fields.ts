/** A pod's own names, as its metadata has them. What is not known is left out. */
export interface PodNames {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly uid?: string | undefined;
}

/** What names a pod in the fields of a log line: all three on every line about one pod. A name that is not known is undefined. */
export interface PodFields {
  readonly podNamespace: string | undefined;
  readonly podName: string | undefined;
  readonly podUID: string | undefined;
}

/** The fields that name a pod; `pod.metadata` may be given as it is. */
export function podFields({ namespace, name, uid }: PodNames = {}): PodFields {
  return { podNamespace: namespace, podName: name, podUID: uid };
}

/** What names any other object. */
interface ObjectFields extends PodNames {
  readonly kind: string | undefined;
}

/** The fields that name an object of any kind: those of a pod where it is one, `node` for a node. */
export function objectFields(
  kind: string | undefined,
  { namespace, name, uid }: PodNames = {},
): PodFields | ObjectFields | { readonly node: string | undefined } {
  if (kind === 'Pod') return podFields({ namespace, name, uid });
  return kind === 'Node' ? { node: name } : { kind, namespace, name, uid };
}

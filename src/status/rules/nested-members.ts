// Which members the objects inside a pod's status have: k8s.io/api v0.36.3 (Kubernetes 1.36). A newer apiserver may have more.

/** The members of an address in `podIPs` and `hostIPs`. */
export const addressMembers: ReadonlySet<string> = new Set(['ip']);

/** The lists of addresses. */
export const addressLists = ['podIPs', 'hostIPs'] as const;

/** The states of a container, of which it has one at most. */
export const stateKinds: ReadonlySet<string> = new Set(['waiting', 'running', 'terminated']);

/** Each state of a container, with its members. */
export const stateMembers: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['waiting', new Set(['reason', 'message'])],
  ['running', new Set(['startedAt'])],
  ['terminated', new Set(['containerID', 'exitCode', 'finishedAt', 'message', 'reason', 'signal', 'startedAt'])],
]);

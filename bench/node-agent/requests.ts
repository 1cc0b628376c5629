/** Requests of the node's user, counted by what they did. */
export interface RequestCounts {
  readonly total: number;
  /** Such as `patch pods/status`, in the order of their names. */
  readonly kinds: Readonly<Record<string, number>>;
}

interface AuditEvent {
  readonly verb: string;
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string; readonly namespace?: string };
}

/** Requests for objects of one namespace: what the pods in it have cost. Leases and the Node lie in other places. */
export function requestsIn(auditLog: string, namespace: string): RequestCounts {
  const kinds = new Map<string, number>();
  for (const line of auditLog.split('\n')) {
    if (line === '') continue;
    const { verb, objectRef } = JSON.parse(line) as AuditEvent;
    if (objectRef?.namespace !== namespace) continue;
    const { resource = '', subresource } = objectRef;
    const kind = `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  const sorted = [...kinds].sort(([a], [b]) => (a < b ? -1 : 1));
  return { total: sorted.reduce((sum, [, count]) => sum + count, 0), kinds: Object.fromEntries(sorted) };
}

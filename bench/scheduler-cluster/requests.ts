/** Lets the apiserver write each request when it arrives. A watch counts once. */
export const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [ResponseStarted, ResponseComplete, Panic]
rules:
- level: Metadata
  resources:
  - {group: "", resources: [pods, pods/status, pods/binding, events]}
  - {group: events.k8s.io, resources: [events]}
- level: None
`;

interface AuditEvent {
  readonly verb: string;
  readonly userAgent?: string;
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string; readonly namespace?: string };
}

/** A scheduler's requests in one namespace, such as `create pods/binding`, in the order of their names. */
export function requestsIn(auditLog: string, namespace: string): Readonly<Record<string, number>> {
  const kinds = new Map<string, number>();
  for (const line of auditLog.split('\n')) {
    if (!line.includes(namespace)) continue;
    const { verb, userAgent = '', objectRef } = JSON.parse(line) as AuditEvent;
    if (objectRef?.namespace !== namespace || !userAgent.includes('scheduler')) continue;
    const { resource = '', subresource } = objectRef;
    const kind = `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return Object.fromEntries([...kinds].sort(([a], [b]) => (a < b ? -1 : 1)));
}

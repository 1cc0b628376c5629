import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';

/** Each write of what a fleet writes, when it comes in and when it is answered, with what the server then has. */
const policy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [ResponseStarted]
omitManagedFields: true
rules:
- level: RequestResponse
  verbs: [create, update, patch, delete]
  resources:
  - {group: "", resources: [pods, pods/status, nodes, nodes/status, events]}
  - {group: events.k8s.io, resources: [events]}
  - {group: coordination.k8s.io, resources: [leases]}
- {level: None}
`;

/** Writes the policy there. */
export async function writeAuditPolicy(file: string): Promise<void> {
  await writeFile(file, policy);
}

/** The flags of one kube-apiserver. Each has a log of its own, which it never splits. */
export function auditFlags(policyFile: string, logFile: string): string[] {
  return [
    `--audit-policy-file=${policyFile}`,
    `--audit-log-path=${logFile}`,
    '--audit-log-mode=blocking',
    '--audit-log-maxsize=100000',
  ];
}

/** A write as an apiserver saw it. Times are milliseconds since the epoch, with fractions. */
export interface AuditedWrite {
  readonly auditID: string;
  readonly userAgent: string;
  readonly verb: string;
  /** `pods`, `pods/status`, `nodes`, `nodes/status`, `leases` or `events`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly receivedAt: number;
  /** Undefined: the server died before it had answered. */
  readonly answeredAt: number | undefined;
  /** 0 where it was not answered. */
  readonly code: number;
  /** The version that the object then had, which is etcd's revision; undefined where the answer names none. */
  readonly revision: number | undefined;
}

interface AuditEvent {
  readonly stage: 'RequestReceived' | 'ResponseComplete' | 'Panic';
  readonly auditID: string;
  readonly verb: string;
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly responseObject?: { readonly metadata?: { readonly name?: string; readonly resourceVersion?: string } };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

/** `…T12:00:00.123456Z` in milliseconds since the epoch, microseconds kept. */
function microTime(text: string): number {
  const [, whole = '', fraction = '0'] = /^(.*?)(?:\.(\d+))?Z$/.exec(text) ?? [];
  return Date.parse(`${whole}Z`) + Number(`0.${fraction}`) * 1000;
}

/** Puts the two lines of each write together. */
export class AuditLog {
  readonly #writes = new Map<string, AuditedWrite>();
  /** Lines that are no whole event: a server that was killed may have cut its last one off. */
  brokenLines = 0;

  get writes(): readonly AuditedWrite[] {
    return [...this.#writes.values()];
  }

  async readFile(file: string): Promise<void> {
    for await (const line of createInterface({ input: createReadStream(file) })) this.take(line);
  }

  take(line: string): void {
    if (line === '') return;
    let event: AuditEvent;
    try {
      event = JSON.parse(line);
    } catch {
      this.brokenLines += 1;
      return;
    }
    const { auditID, userAgent = '', verb, objectRef, responseStatus, responseObject, stage } = event;
    const { resource = '', subresource, namespace = '', name } = objectRef ?? {};
    const isAnswered = stage !== 'RequestReceived';
    if (!isAnswered && this.#writes.has(auditID)) return;
    const { resourceVersion, name: created = '' } = responseObject?.metadata ?? {};
    this.#writes.set(auditID, {
      auditID,
      userAgent,
      verb,
      resource: subresource === undefined ? resource : `${resource}/${subresource}`,
      namespace,
      name: name ?? created,
      receivedAt: microTime(event.requestReceivedTimestamp),
      answeredAt: isAnswered ? microTime(event.stageTimestamp) : undefined,
      code: isAnswered ? (responseStatus?.code ?? 0) : 0,
      revision: resourceVersion === undefined ? undefined : Number(resourceVersion),
    });
  }
}

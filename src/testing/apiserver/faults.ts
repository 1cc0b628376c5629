import { invalidOption } from '../../base/errors.ts';
import { oneOfOption, requireKnownOptions } from '../../base/options.ts';
import type { FaultRules } from '../fault-rules.ts';
import { type ApiVerb, isNamed, type ResourceRoute } from './served-resources.ts';

/** What goes wrong with a request. */
export type Fault =
  /** Waits before the request is handled. */
  | { readonly kind: 'latency'; readonly ms: number }
  /**
   * Answers with a Status object and does nothing. `code` is the HTTP status, from 200 to 599. Default of `reason`: the one that
   * a kube-apiserver gives with this code (`Forbidden` for 403). `message`: what went wrong, in words, such as `pods "web" is
   * forbidden: User "agent" cannot patch resource "pods/status"`; default: that the request fails on demand.
   */
  | {
      readonly kind: 'status';
      readonly code: number;
      readonly retryAfterSeconds?: number;
      readonly reason?: string;
      readonly message?: string;
    }
  /** Resets the connection; the request has no effect. */
  | { readonly kind: 'reset' }
  /** Never answers; the request has no effect. */
  | { readonly kind: 'hang' }
  /** The request takes effect, and its answer breaks off in the middle. */
  | { readonly kind: 'cut' }
  /** Answers 200 with text that is no JSON; the request has no effect. */
  | { readonly kind: 'garbage' }
  /** The request takes effect, and the connection is reset before the answer. */
  | { readonly kind: 'reset-after' };

/** Which requests go wrong, and how. A member that is left out fits every request. */
export interface FaultRule {
  /** What goes wrong. */
  readonly fault: Fault;
  /** `secrets`, `leases.coordination.k8s.io`; `*` for every resource. Default `pods`. */
  readonly resource?: string;
  /** Default: any verb. */
  readonly verb?: ApiVerb;
  /** The namespace of the request. Default: any. */
  readonly namespace?: string;
  /** The name of the object. Default: any. */
  readonly name?: string;
  /** How many requests the rule hits. Default 1; with a `probability`, without limit. */
  readonly times?: number;
  /** The share of matching requests that the rule hits, 0 to 1. */
  readonly probability?: number;
  /** The source of random numbers. Default `Math.random`. */
  readonly random?: () => number;
}

/** A fault rule of a server, as `InMemoryApiServer.fail` returns it. */
export interface FaultHandle {
  /** How many more requests the rule hits. */
  readonly remaining: number;
  /** Takes the rule back. A second call does nothing. */
  remove(): void;
}

const kinds: readonly Fault['kind'][] = ['latency', 'status', 'reset', 'hang', 'cut', 'garbage', 'reset-after'];

/** Throws ERR_INVALID_OPTION for a fault that there is not, and for what a Status object cannot say. */
export function requireFault(fault: Fault): void {
  if (typeof fault !== 'object' || fault === null) throw invalidOption('fault', 'an object', fault);
  oneOfOption('fault.kind', fault.kind, kinds);
  if (fault.kind !== 'status') return;
  requireKnownOptions('fault', fault, ['kind', 'code', 'retryAfterSeconds', 'reason', 'message']);
  const { code } = fault;
  if (!Number.isInteger(code) || code < 200 || code > 599) throw invalidOption('fault.code', 'an integer from 200 to 599', code);
  for (const member of ['reason', 'message'] as const) {
    const text: unknown = fault[member];
    if (text !== undefined && (typeof text !== 'string' || text === ''))
      throw invalidOption(`fault.${member}`, 'a non-empty string', text);
  }
}

/** The faults of a request: the sum of all latencies, and the first other fault. */
interface RequestFaults {
  readonly latencyMs: number;
  readonly fault: Fault | undefined;
}

/** Takes the faults of a request from the rules. */
export function takeFaults(rules: FaultRules<FaultRule>, route: ResourceRoute): RequestFaults {
  let latencyMs = 0;
  let other: Fault | undefined;
  for (const { fault } of rules.take((rule) => (other === undefined || rule.fault.kind === 'latency') && fits(rule, route))) {
    if (fault.kind === 'latency') latencyMs += fault.ms;
    else other = fault;
  }
  return { latencyMs, fault: other };
}

function fits({ resource = 'pods', verb, namespace, name }: FaultRule, route: ResourceRoute): boolean {
  if (!isNamed(resource, route.store.resource) || (verb ?? route.verb) !== route.verb) return false;
  return (namespace ?? route.namespace) === route.namespace && (name ?? route.name) === route.name;
}

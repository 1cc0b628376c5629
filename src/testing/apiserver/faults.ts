import { type ApiVerb, isNamed, type ResourceRoute } from './served-resources.ts';

/** What goes wrong with a request. */
export type Fault =
  /** Waits before the request is handled. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** Answers with a Status object and does nothing. */
  | { readonly kind: 'status'; readonly code: number; readonly retryAfterSeconds?: number; readonly reason?: string }
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

interface ActiveRule {
  readonly rule: FaultRule;
  remaining: number;
}

/** The fault rules in the order they were added. Each hits matching requests until it is used up. */
export class Faults {
  #rules: ActiveRule[] = [];

  add(rule: FaultRule): FaultHandle {
    const active: ActiveRule = { rule, remaining: rule.times ?? (rule.probability === undefined ? 1 : Number.POSITIVE_INFINITY) };
    this.#rules.push(active);
    return {
      get remaining() {
        return active.remaining;
      },
      remove: () => {
        active.remaining = 0;
      },
    };
  }

  clear(): void {
    for (const active of this.#rules) active.remaining = 0;
    this.#rules = [];
  }

  /** The faults of this request: the sum of all latencies, and the first other fault. Each counts as one hit of its rule. */
  take(route: ResourceRoute): { readonly latencyMs: number; readonly fault: Fault | undefined } {
    let latencyMs = 0;
    let fault: Fault | undefined;
    for (const active of this.#rules) {
      const isLatency = active.rule.fault.kind === 'latency';
      if ((!isLatency && fault !== undefined) || !hits(active, route)) continue;
      active.remaining -= 1;
      if (active.rule.fault.kind === 'latency') latencyMs += active.rule.fault.ms;
      else fault = active.rule.fault;
    }
    this.#rules = this.#rules.filter(({ remaining }) => remaining > 0);
    return { latencyMs, fault };
  }
}

function hits({ rule, remaining }: ActiveRule, route: ResourceRoute): boolean {
  const { resource = 'pods', verb, namespace, name, probability, random = Math.random } = rule;
  if (!isNamed(resource, route.store.resource)) return false;
  if (remaining <= 0 || (verb ?? route.verb) !== route.verb) return false;
  if ((namespace ?? route.namespace) !== route.namespace || (name ?? route.name) !== route.name) return false;
  return probability === undefined || random() < probability;
}

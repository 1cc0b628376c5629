import type { RuntimeErrorKind } from '../../kubelet/runtime/container-runtime.ts';

/** A call of the port, by its name in CRI. */
export type RuntimeCallName =
  | 'Version'
  | 'Status'
  | 'RuntimeConfig'
  | 'UpdateRuntimeConfig'
  | 'RunPodSandbox'
  | 'StopPodSandbox'
  | 'RemovePodSandbox'
  | 'PodSandboxStatus'
  | 'ListPodSandbox'
  | 'CreateContainer'
  | 'StartContainer'
  | 'StopContainer'
  | 'RemoveContainer'
  | 'ContainerStatus'
  | 'ListContainers'
  | 'UpdateContainerResources'
  | 'ReopenContainerLog'
  | 'ListContainerStats'
  | 'ListPodSandboxStats'
  | 'ExecSync'
  | 'Exec'
  | 'Attach'
  | 'PortForward'
  | 'PullImage'
  | 'ImageStatus'
  | 'ListImages'
  | 'RemoveImage'
  | 'ImageFsInfo';

/** What goes wrong with a call. */
export type RuntimeFault =
  /** The call fails and does nothing. `error` is the kind of the error, `message` its text. */
  | { readonly kind: 'error'; readonly error: RuntimeErrorKind; readonly message?: string }
  /** The call takes effect, and its answer is lost: it fails with that error. */
  | { readonly kind: 'error-after'; readonly error: RuntimeErrorKind; readonly message?: string }
  /** The call does nothing and never answers, unless it is aborted. */
  | { readonly kind: 'hang' }
  /** The call takes effect and never answers, unless it is aborted. */
  | { readonly kind: 'hang-after' }
  /** The call waits that many milliseconds before it takes effect. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** The call takes effect at once and answers that many milliseconds later with what was true then. */
  | { readonly kind: 'late-answer'; readonly ms: number };

/** Which calls go wrong, and how. A member that is left out fits every call. */
export interface RuntimeFaultRule {
  /** What goes wrong. */
  readonly fault: RuntimeFault;
  /** Default: every call. */
  readonly call?: RuntimeCallName;
  /** The id of the sandbox or the container, or the image, that the call is about. Default: any. */
  readonly about?: string;
  /** How many calls the rule hits. Default 1; with a `probability`, without limit. */
  readonly times?: number;
  /** The share of fitting calls that the rule hits, 0 to 1. Default 1. */
  readonly probability?: number;
  /** The source of random numbers. Default `Math.random`. */
  readonly random?: () => number;
}

/** A rule of a {@link FakeRuntime}, as `fail` and `loseEvents` return it. */
export interface RuntimeFaultHandle {
  /** How many more calls or events the rule hits. */
  readonly remaining: number;
  /** Takes the rule back. A second call does nothing. */
  remove(): void;
}

interface ActiveRule {
  readonly rule: Omit<RuntimeFaultRule, 'fault'>;
  remaining: number;
}

/** Rules in the order in which they were added. Each hits what fits until it is used up. */
export class RuleList<Rule extends Omit<RuntimeFaultRule, 'fault'>> {
  #rules: (ActiveRule & { readonly rule: Rule })[] = [];

  add(rule: Rule): RuntimeFaultHandle {
    const times = rule.times ?? (rule.probability === undefined ? 1 : Number.POSITIVE_INFINITY);
    const active = { rule, remaining: times };
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

  /** The first rule that hits; it counts as one hit. */
  take(call: string, about: string): Rule | undefined {
    const hit = this.#rules.find((active) => hits(active, call, about));
    if (hit === undefined) return undefined;
    hit.remaining -= 1;
    this.#rules = this.#rules.filter(({ remaining }) => remaining > 0);
    return hit.rule;
  }
}

function hits({ rule, remaining }: ActiveRule, call: string, about: string): boolean {
  const { probability, random = Math.random } = rule;
  if (remaining <= 0 || (rule.call ?? call) !== call || (rule.about ?? about) !== about) return false;
  return probability === undefined || random() < probability;
}

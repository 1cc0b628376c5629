import { invalidOption } from '../../base/errors.ts';
import { requireKnownOptions } from '../../base/options.ts';
import type { Plugin, Rejection } from '../framework/plugin.ts';
import type { PodInfo } from '../nodes/pod-info.ts';

/**
 * Rejects a pod with `spec.resourceClaims`: this scheduler does not allocate devices. Without this plugin such a pod is placed
 * as if it had no claims. Takes kube-scheduler's `filterTimeout` and `bindingTimeout`, which change nothing here.
 */
export function dynamicResources(args?: unknown): Plugin {
  const times = argsOf('DynamicResources', args, ['filterTimeout', 'bindingTimeout']);
  for (const [name, value] of Object.entries(times)) {
    if (value == null || name === 'apiVersion' || name === 'kind' || duration.test(String(value))) continue;
    throw invalidOption(`DynamicResources.${name}`, 'a duration that is not below 0, such as "10s"', value);
  }
  const refusal = refusing('DynamicResources', ({ pod: { spec } }) => {
    const claim = spec?.resourceClaims?.[0];
    if (claim === undefined) return undefined;
    return `resource claim ${JSON.stringify(claim.name)} needs dynamic resource allocation, which this scheduler does not do`;
  });
  // kube-scheduler says so of every pod that fits nowhere
  return { ...refusal, postFilter: () => ({ nominatedNodeName: undefined, message: 'no new claims to deallocate' }) };
}

/** A time as Go writes it, which is not below 0. */
const duration = /^\+?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+)$/;

function argsOf(plugin: string, args: unknown, known: readonly string[]): Readonly<Record<string, unknown>> {
  const given = args ?? {};
  requireKnownOptions(plugin, given, ['apiVersion', 'kind', ...known]);
  return given as Readonly<Record<string, unknown>>;
}

/** What a pod needs of this sort never changes, so no event can help it. */
function refusing(name: string, reasonFor: (pod: PodInfo) => string | undefined): Plugin {
  const refusal = (pod: PodInfo): Rejection | 'skip' => {
    const reason = reasonFor(pod);
    return reason === undefined ? 'skip' : { code: 'UnschedulableAndUnresolvable', reasons: [reason] };
  };
  return { name, eventsToRegister: () => [], preFilter: (_state, pod) => refusal(pod) };
}

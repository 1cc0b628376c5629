// Behaviour of pkg/scheduler/framework/plugins/schedulinggates, v1.36.3.
import type { WirePod } from '../../api/json/types.ts';
import type { Plugin } from '../framework/plugin.ts';
import { refuseArgs } from './common/refuse-args.ts';

/** Keeps a pod from being tried while it has scheduling gates. No arguments. */
export function schedulingGates(args?: unknown): Plugin {
  refuseArgs('SchedulingGates', args);
  return {
    name: 'SchedulingGates',
    eventsToRegister: () => [
      {
        resource: 'Pod',
        actions: ['UpdatePodSchedulingGatesEliminated'],
        hint: (pod, _before, after) => ((after as WirePod | undefined)?.metadata?.uid === pod.metadata?.uid ? 'Queue' : 'Skip'),
      },
    ],
    preEnqueue({ spec }) {
      const gates = (spec?.schedulingGates ?? []).map(({ name }) => name);
      if (gates.length === 0) return undefined;
      return { code: 'UnschedulableAndUnresolvable', reasons: [`waiting for scheduling gates: [${gates.join(' ')}]`] };
    },
  };
}

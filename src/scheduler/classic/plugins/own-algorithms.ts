import type { WirePod } from '../../../api/json/types.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { wrongAnswer } from '../../framework/plugin-error.ts';
import type { NodeInfo } from '../../nodes/node-info.ts';

/**
 * Says whether a pod may go to a node: true, or the reason why not, or several. The reasons stand in the pod's condition, counted
 * over the nodes. It is called for every node of every attempt, so it must not wait: a promise ends the attempt with an error.
 */
export type Predicate = (pod: WirePod, node: NodeInfo) => true | string | readonly string[];

/**
 * Says how good a node is for a pod, from 0 to 100; the best node is the one with the highest sum of scores times weights. It
 * must not wait: a promise ends the attempt with an error.
 */
export type Priority = (pod: WirePod, node: NodeInfo) => number;

/** A plugin that filters by this predicate. Any change of the cluster may help a pod that it rejected. */
export function predicatePlugin(name: string, predicate: Predicate): Plugin {
  return {
    name,
    filter(_state, { pod }, node) {
      const answer: unknown = predicate(pod, node);
      if (answer === true) return undefined;
      const reasons: unknown = typeof answer === 'string' ? [answer] : answer;
      if (isReasons(reasons)) return { code: 'Unschedulable', reasons };
      throw wrongAnswer(name, 'filter', 'true, a reason or a list of reasons', answer);
    },
  };
}

/** A plugin that scores by this priority. */
export function priorityPlugin(name: string, priority: Priority): Plugin {
  return { name, eventsToRegister: () => [], score: (_state, { pod }, node) => priority(pod, node) };
}

function isReasons(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((reason) => typeof reason === 'string' && reason !== '');
}

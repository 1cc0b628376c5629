// Behaviour of pkg/scheduler/framework/plugins/queuesort, v1.36.3.
import type { Plugin } from '../framework/plugin.ts';

/** Sorts the queue: the higher priority first; of equal ones the pod that was put into the queue first. */
export function prioritySort(): Plugin {
  return {
    name: 'PrioritySort',
    less: (first, second) =>
      first.podInfo.priority > second.podInfo.priority ||
      (first.podInfo.priority === second.podInfo.priority && first.timestamp < second.timestamp),
  };
}

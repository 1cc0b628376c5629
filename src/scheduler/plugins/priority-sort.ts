// Behaviour of pkg/scheduler/framework/plugins/queuesort, v1.36.3.
import type { Plugin } from '../framework/plugin.ts';
import { refuseArgs } from './common/refuse-args.ts';

/** Sorts the queue: the higher priority first; of equal ones the pod that was put into the queue first. No arguments. */
export function prioritySort(args?: unknown): Plugin {
  refuseArgs('PrioritySort', args);
  return {
    name: 'PrioritySort',
    less: (first, second) =>
      first.podInfo.priority > second.podInfo.priority ||
      (first.podInfo.priority === second.podInfo.priority && first.timestamp < second.timestamp),
  };
}

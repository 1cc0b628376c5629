// Behaviour of pkg/scheduler/framework/plugins/nodename, v1.36.3.
import type { Plugin } from '../framework/plugin.ts';
import type { Rejection } from '../framework/status.ts';
import { refuseArgs } from './common/refuse-args.ts';

const otherNode: Rejection = {
  code: 'UnschedulableAndUnresolvable',
  reasons: ["node(s) didn't match the requested node name"],
};

/** Rejects every node but the one that the pod names. No arguments. */
export function nodeName(args?: unknown): Plugin {
  refuseArgs('NodeName', args);
  return {
    name: 'NodeName',
    eventsToRegister: () => [{ resource: 'Node', actions: ['Add'] }],
    filter: (_state, { pod: { spec } }, node) => (!spec?.nodeName || spec.nodeName === node.name ? undefined : otherNode),
  };
}

import type { WireNode, WirePod } from '../../api/json/types.ts';
import type { JsonMembers } from '../../client/transport/api-answer.ts';
import type { EventResource } from '../framework/cluster-event.ts';
import type { ClusterSink } from './cluster-watches.ts';

/** The part of a scheduler that is told of the cluster. */
export interface ToldScheduler {
  setPod(pod: WirePod): void;
  deletePod(uid: string): void;
  setNode(node: WireNode): void;
  deleteNode(name: string): void;
  unconfirmedPods(boundBefore: number): readonly WirePod[];
  objectChanged(resource: EventResource, before: JsonMembers | undefined, after: JsonMembers | undefined): void;
}

/** Brings what the watches of a cluster tell to the scheduler. */
export function sinkOf(scheduler: ToldScheduler): ClusterSink {
  // no pod loses its node, unless etcd was set back to a time before its binding
  const unbound = (pod: WirePod): void => {
    scheduler.deletePod(pod.metadata?.uid ?? '');
    scheduler.setPod(pod);
  };
  return {
    podAdded: (pod) => scheduler.setPod(pod),
    podUpdated: (before, pod) => {
      if (hasNode(before) && !hasNode(pod)) unbound(pod);
      else scheduler.setPod(pod);
    },
    podsListed: (startedAt, find) => {
      for (const { metadata } of scheduler.unconfirmedPods(startedAt)) {
        const pod = find(metadata?.namespace, metadata?.name ?? '');
        if (pod !== undefined && pod.metadata?.uid === metadata?.uid && !hasNode(pod)) unbound(pod);
      }
    },
    podDeleted: ({ metadata }) => scheduler.deletePod(metadata?.uid ?? ''),
    nodeAdded: (node) => scheduler.setNode(node),
    nodeUpdated: (_, node) => scheduler.setNode(node),
    nodeDeleted: ({ metadata }) => scheduler.deleteNode(metadata?.name ?? ''),
    objectChanged: (resource, before, after) => scheduler.objectChanged(resource, before, after),
  };
}

function hasNode({ spec }: WirePod): boolean {
  return (spec?.nodeName ?? '') !== '';
}

// Behaviour of pkg/scheduler/framework/plugins/noderesources, fit.go, v1.36.3.
import type { Plugin } from '../../framework/plugin.ts';
import { fitArgs, type ScoringStrategy } from './args.ts';
import { containersOf } from './containers-of.ts';
import { fitEvents } from './fit-hints.ts';
import { rememberedByObject } from './remembered.ts';
import { shortages } from './shortages.ts';
import { leastAllocated, mostAllocated, type ResourceScorer, requestedToCapacityRatio } from './strategies.ts';

/**
 * Rejects a node that has too little left of what the pod asks for, and scores how much the node would be used.
 *
 * Arguments: `ignoredResources` and `ignoredResourceGroups` name extended resources that are not looked at, by name and by
 * what stands before the `/`. `scoringStrategy` has a `type` (`LeastAllocated`, the default, spreads pods; `MostAllocated`
 * fills nodes up; `RequestedToCapacityRatio` follows the line of `requestedToCapacityRatio.shape`) and `resources`, by default
 * CPU and memory, each with a `weight` from 1 to 100. Throws ERR_INVALID_OPTION for other arguments.
 */
export function nodeResourcesFit(args?: unknown): Plugin {
  const { ignoredResources, ignoredResourceGroups, scoringStrategy } = fitArgs(args);
  const ignoresAny = ignoredResources.size > 0 || ignoredResourceGroups.size > 0;
  const ignored = ignoresAny ? { names: ignoredResources, groups: ignoredResourceGroups } : undefined;
  const score = scorerOf(scoringStrategy);
  const containersAlone = rememberedByObject(containersOf);
  return {
    name: 'NodeResourcesFit',
    eventsToRegister: fitEvents,
    filter: (_state, { requests }, node) => shortages(requests, node.allocatable, node.requested, node.pods.length, ignored),
    // upstream's scores, unlike its filter, do not look at the resources of the pod as a whole
    score: (_state, pod, node) => score(pod.pod.spec?.resources === undefined ? pod : containersAlone(pod), node),
  };
}

function scorerOf(strategy: ScoringStrategy): ResourceScorer {
  switch (strategy.type) {
    case 'LeastAllocated':
      return leastAllocated(strategy.resources);
    case 'MostAllocated':
      return mostAllocated(strategy.resources);
    case 'RequestedToCapacityRatio':
      return requestedToCapacityRatio(strategy.resources, strategy.shape);
  }
}

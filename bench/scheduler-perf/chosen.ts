/** One of upstream's cases, and which of its workloads give the numbers. */
export interface ChosenCase {
  /** The folder of `test/integration/scheduler_perf` whose file has the case. */
  readonly folder: string;
  /** Upstream's workloads by their number of nodes, smallest first. All of them have the feature gates of the release. */
  readonly sizes: readonly (readonly [nodes: number, workload: string])[];
  /** Upstream has no larger one, since its harness does not come to an end with it. */
  readonly mostNodes?: number;
}

/** What is compared, by upstream's names. Everything else about them is read from upstream's files. */
export const chosenCases: Readonly<Record<string, ChosenCase>> = {
  SchedulingBasic: {
    folder: 'misc',
    sizes: [
      [500, '500Nodes'],
      [5000, '5000Nodes_10000Pods_QueueingHintsEnabled'],
    ],
  },
  SchedulingPodAffinity: {
    folder: 'affinity',
    sizes: [
      [500, '500Nodes'],
      [5000, '5000Nodes_5000Pods_QueueingHintsEnabled'],
    ],
  },
  SchedulingPodAntiAffinity: {
    folder: 'affinity',
    sizes: [
      [500, '500Nodes'],
      [5000, '5000Nodes_2000Pods_QueueingHintsEnabled'],
    ],
  },
  TopologySpreading: {
    folder: 'topology_spreading',
    sizes: [
      [500, '500Nodes'],
      [5000, '5000Nodes_5000Pods_QueueingHintsEnabled'],
    ],
  },
  PreemptionBasic: { folder: 'misc', sizes: [[1000, '1000Nodes_QueueingHintsEnabled']], mostNodes: 1000 },
  PreemptionAsync: {
    folder: 'misc',
    sizes: [
      [500, '500Nodes'],
      [5000, '5000Nodes_QueueingHintsEnabled'],
    ],
  },
  Unschedulable: {
    folder: 'misc',
    sizes: [
      [500, '500Nodes/10Init/1kPods'],
      [5000, '5kNodes/100Init/10kPods_QueueingHintsEnabled'],
    ],
  },
};

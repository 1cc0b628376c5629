/** What the watch has told of one pod, in the server's order. */
export interface Sighting {
  readonly pod: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** Absent while the pod has none. */
  readonly node?: string;
  readonly isReady: boolean;
  /** True once its phase is Succeeded or Failed: it takes no room any more. */
  readonly hasEnded: boolean;
}

/** What happened to pods and nodes while schedulers placed them. Names of pods are never used again. */
export interface PlacementRecord {
  readonly sightings: readonly Sighting[];
  /** The pods that the agent of each node has created, in its order. */
  readonly created: ReadonlyMap<string, readonly string[]>;
  /** How many pods a node has room for. */
  readonly room: number;
  /** How many pods there should be at the end. */
  readonly wanted: number;
  /** The nodes that take no pods at the end. */
  readonly drained: ReadonlySet<string>;
}

/** What must not happen, whoever schedules: each in words, none where all went well. */
export function placementProblems(record: PlacementRecord): string[] {
  return [...movedPods(record), ...overfullNodes(record), ...wrongCreations(record), ...wrongAtTheEnd(record)];
}

/** Pods that were bound twice. */
function movedPods({ sightings }: PlacementRecord): string[] {
  const nodes = new Map<string, string>();
  return sightings.flatMap(({ pod, node }) => {
    const before = nodes.get(pod);
    if (node !== undefined) nodes.set(pod, node);
    return before === undefined || before === node ? [] : [`${pod} was bound to ${before}, then to ${node ?? 'no node'}`];
  });
}

function overfullNodes({ sightings, room }: PlacementRecord): string[] {
  const problems: string[] = [];
  const podsOn = new Map<string, Set<string>>();
  for (const { pod, type, node, hasEnded } of sightings) {
    if (node === undefined) continue;
    const pods = podsOn.get(node) ?? new Set();
    podsOn.set(node, pods);
    if (type === 'DELETED' || hasEnded) pods.delete(pod);
    else if (!pods.has(pod) && pods.add(pod).size > room)
      problems.push(`${node} has ${pods.size} pods, with ${pod}, and room for ${room}`);
  }
  return problems;
}

/** Pods that more than one agent has run, or one agent twice, or another one than that of their node. */
function wrongCreations({ sightings, created }: PlacementRecord): string[] {
  const nodes = new Map(sightings.flatMap(({ pod, node }) => (node === undefined ? [] : [[pod, node]])));
  const seen = new Set<string>();
  return [...created].flatMap(([node, pods]) =>
    pods.flatMap((pod) => {
      const problems = seen.has(pod) ? [`${pod} was created again, on ${node}`] : [];
      seen.add(pod);
      if (nodes.get(pod) !== node) problems.push(`${pod} was created on ${node}, and is bound to ${nodes.get(pod) ?? 'no node'}`);
      return problems;
    }),
  );
}

function wrongAtTheEnd({ sightings, wanted, drained }: PlacementRecord): string[] {
  const last = new Map(sightings.map((sighting) => [sighting.pod, sighting]));
  const live = [...last.values()].filter(({ type, hasEnded }) => type !== 'DELETED' && !hasEnded);
  const problems = live.length === wanted ? [] : [`there are ${live.length} pods, and ${wanted} are wanted`];
  for (const { pod, node, isReady } of live) {
    if (node === undefined) problems.push(`${pod} was left without a node`);
    else if (drained.has(node)) problems.push(`${pod} is on ${node}, which was drained`);
    else if (!isReady) problems.push(`${pod} on ${node} is not ready`);
  }
  return problems;
}

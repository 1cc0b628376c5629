// A policy file of the classic scheduler, with a rule of your own. Run it: node examples/scheduler-policy.ts
import { AlgorithmRegistry, policyProfile, Scheduler } from 'pod-status-manager/scheduler';

const policy = `
kind: Policy
apiVersion: v1
predicates:
  - name: PodFitsResources
  - name: MatchNodeSelector
  - name: OnlyForItsTeam
  - name: has-a-rack
    argument:
      labelsPresence: { labels: [rack], presence: true }
priorities:
  - name: LeastRequestedPriority
    weight: 1
  - name: prefers-ssd
    weight: 2
    argument:
      labelPreference: { label: ssd, presence: true }
`;

// a predicate is a function: true, or why not
const registry = new AlgorithmRegistry().registerPredicate('OnlyForItsTeam', (pod, { node }) => {
  const team = node.metadata?.labels?.team;
  return team === undefined || team === pod.metadata?.labels?.team || `node(s) belonged to team ${team}`;
});

// in memory: what a cluster would be asked is printed here
const scheduler = new Scheduler({
  profiles: [policyProfile(policy, { registry })],
  client: {
    bind: async (pod, nodeName) => console.log(`${pod.metadata?.name} goes to ${nodeName}.`),
    patchStatus: async (pod, { condition }) => {
      if (condition?.message) console.log(`${pod.metadata?.name} waits: ${condition.message}`);
    },
  },
});

const labels: Readonly<Record<string, Record<string, string>>> = {
  old: { rack: 'r1' },
  fast: { rack: 'r1', ssd: 'yes' },
  theirs: { rack: 'r2', ssd: 'yes', team: 'b' },
  loose: {},
};
for (const [name, of] of Object.entries(labels)) {
  scheduler.setNode({ metadata: { name, labels: of }, status: { allocatable: { cpu: '2', memory: '4Gi', pods: '10' } } });
}

async function schedule(name: string, cpu: string, team: string): Promise<void> {
  scheduler.setPod({
    metadata: { name, namespace: 'default', uid: name, labels: { team } },
    spec: { schedulerName: 'default-scheduler', containers: [{ name: 'app', image: 'app:1', resources: { requests: { cpu } } }] },
  });
  await scheduler.flush();
}

scheduler.start();
await schedule('web', '1500m', 'a'); // the disk counts twice
await schedule('api', '1500m', 'a'); // the fast node is full
await schedule('job', '1500m', 'a'); // so is the old one
await schedule('guest', '1500m', 'b'); // job is tried again: a rule of one's own may wait for any change
await scheduler.stop();

import type { AdminClient } from '../support/admin-client.ts';
import { podListOf, type ServedPod } from '../support/answers.ts';
import { foreignConditions, type Journal, markOf, ownerOfPod } from './journal.ts';
import type { NodeAgent } from './node-agent.ts';

export interface InStepParts {
  readonly admin: AdminClient;
  readonly namespace: string;
  readonly journal: Journal;
  readonly agent: NodeAgent;
  readonly pods: number;
}

/** What of the apiserver is not as it was last set, by whoever set it. Empty: all in step. */
export async function outOfStep({ admin, namespace, journal, agent, pods }: InStepParts): Promise<string[]> {
  const { items } = podListOf(await admin.listPods(namespace));
  const wrong = items.length === pods ? [] : [`${items.length} pods instead of ${pods}`];
  return [...wrong, ...items.flatMap((pod) => whatIsWrong(pod, journal, agent))];
}

function whatIsWrong(pod: ServedPod, journal: Journal, agent: NodeAgent): string[] {
  const { name, uid, deletionTimestamp } = pod.metadata;
  if (deletionTimestamp !== undefined) return [`${name} is still to be deleted`];
  const [mark, newest] = [markOf(pod), journal.newest.get(ownerOfPod(pod))];
  if (mark === undefined || mark !== newest) return [`${name} shows mark ${mark} instead of ${newest}`];
  const ready = pod.status.conditions?.find(({ type }) => type === 'Ready')?.status;
  if (!agent.hasReadiness(uid, ready)) return [`${name} shows Ready ${ready}, the manager does not`];
  const foreign = foreignConditions(pod);
  for (const type of journal.foreignTypes) {
    const [is, should] = [foreign.get(type), journal.foreignSteps(uid, type).at(-1)];
    if (is !== should) return [`${name} shows ${type} as ${is ?? 'gone'} instead of ${should ?? 'gone'}`];
  }
  return [];
}

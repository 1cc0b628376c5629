import type { ServedPod } from '../../support/answers.ts';
import { outOfStep } from '../chaos/check/standing.ts';
import type { Ledger } from '../chaos/said/ledger.ts';

/** Where a pod on the apiserver is not as the agent last said, or as a rival last wrote. Empty: all in step. */
export function whatIsOutOfStep(items: readonly ServedPod[], ledger: Ledger, pods: number): string[] {
  const wrong = items.length === pods ? [] : [`${items.length} pods instead of ${pods}`];
  return [
    ...wrong,
    ...items.flatMap((pod) => (isGoing(pod) ? [`${pod.metadata.name} is still to be deleted`] : outOfStep(pod, ledger))),
  ];
}

function isGoing({ metadata }: ServedPod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

// Behaviour of the questions of PodWorkers in pkg/kubelet/pod_workers.go, v1.36.3.

import type { PodRecord } from './pod-record.ts';
import type { PodRecords } from './pod-records.ts';

/** The questions about one pod, by the pod's record; of a pod without one, the answer depends on `syncKnownPods` alone. */
export const podQuestions = {
  isPodKnownTerminated: { ofRecord: ({ isTerminated }: PodRecord) => isTerminated, ofUnknown: () => false },
  couldHaveRunningContainers: {
    ofRecord: ({ isTerminated }: PodRecord) => !isTerminated,
    ofUnknown: (isSynced: boolean) => !isSynced,
  },
  shouldPodBeFinished: { ofRecord: ({ isFinished }: PodRecord) => isFinished, ofUnknown: (isSynced: boolean) => isSynced },
  isPodTerminationRequested: {
    ofRecord: ({ isTerminationRequested }: PodRecord) => isTerminationRequested,
    ofUnknown: () => false,
  },
  shouldPodContainersBeTerminating: {
    ofRecord: ({ isTerminationStarted }: PodRecord) => isTerminationStarted,
    ofUnknown: (isSynced: boolean) => isSynced,
  },
  shouldPodRuntimeBeRemoved: {
    ofRecord: ({ isTerminated }: PodRecord) => isTerminated,
    ofUnknown: (isSynced: boolean) => isSynced,
  },
  shouldPodContentBeRemoved: {
    ofRecord: ({ isEvicted, isDeleted, isTerminated }: PodRecord) => isEvicted || (isDeleted && isTerminated),
    ofUnknown: (isSynced: boolean) => isSynced,
  },
} as const;

/** Answers one of {@link podQuestions}. */
export function answer(records: PodRecords, question: keyof typeof podQuestions, podUID: string): boolean {
  const { ofRecord, ofUnknown } = podQuestions[question];
  const record = records.get(podUID);
  return record === undefined ? ofUnknown(records.isSynced) : ofRecord(record);
}

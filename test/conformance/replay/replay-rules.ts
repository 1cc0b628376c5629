/** The rules of docs/divergences that may excuse a difference, by their names there. */
export const rules = {
  'D1 retry': 'a failed request is retried after a backoff of its own, not when another pod changes, and a new version at once',
  'D2 entry': 'the acknowledged version goes with the entry, so a pod set again is sent at once',
  'D3 unobserved':
    'a foreign write that ours has not seen is found by a conflict or a later look, not by a GET before each patch',
  'D4 init order': 'an API status with init containers out of spec order is put in order before it is compared',
  'D5 recreated': 'a recreated pod to which nothing would be written is found when the next write is due',
  'D6 disruption time': 'the cached DisruptionTarget keeps its time; upstream’s merge writes a new one into the cache',
  'D7 pause': 'after a 429 nothing is sent for as long as the server asked',
  'D8 gone':
    'a pod the apiserver did not know is asked for when it is seen again, not when another pod changes; a DELETE that finds no pod is done',
  'D9 server fill-ins': 'the copy that the pod manager is given holds what a real server keeps, the oracle’s does not',
  'D11 vanished': 'the entry of a pod that the pod manager has forgotten goes by itself once nothing of it runs',
  'D12 second look': 'a batch asks only for a pod to which something would be written, going by the freshest copy known',
  'D13 mirror': 'a static pod outlives its mirror pods, and a new mirror gets its status at the next batch',
} as const;

export type Rule = keyof typeof rules;

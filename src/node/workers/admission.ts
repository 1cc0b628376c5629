/** The answer to the question whether a pod that is new on this node may run here. A pod that is refused is Failed, for good. */
export type Admission = { readonly admit: true } | { readonly admit: false; readonly reason: string; readonly message: string };

/** True for what an embedder's function may answer. */
export function isAdmission(value: unknown): value is Admission {
  if (typeof value !== 'object' || value === null || !('admit' in value)) return false;
  if (value.admit === true) return true;
  if (value.admit !== false || !('reason' in value) || !('message' in value)) return false;
  return typeof value.reason === 'string' && value.reason !== '' && typeof value.message === 'string';
}

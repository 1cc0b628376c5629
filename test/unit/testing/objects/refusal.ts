import { type ApiStatus, StoreError } from '../../../../src/testing/objects/api-status.ts';

/** The Status object that `act` throws. Throws when `act` is not refused. */
export function refusal(act: () => unknown): ApiStatus {
  try {
    act();
  } catch (error) {
    if (error instanceof StoreError) return error.body;
    throw error;
  }
  throw new Error('Expected a refusal');
}

import type { CycleState, StateData, StateKey } from '../../framework/cycle-state.ts';

/** What the plugin kept earlier in this cycle. Throws where it kept nothing: then it must not agree to a node. */
export function kept<Data extends StateData<Data>>(state: CycleState, key: StateKey<Data>): Data {
  const data = state.read(key);
  if (data === undefined) throw new Error(`Nothing was kept for "${key.name}" in this cycle`);
  return data;
}

const zeroFields: ReadonlySet<string> = new Set(['restartCount', 'observedGeneration', 'signal', 'exitCode']);

/** The rest of a character that upstream cut in a long termination message. Our manager cuts before it (docs/divergences, S11). */
const halfCharacter = /\ufffd{1,3}$/;
const longMessage = 500;

/** JSON without the empty values that Go's encoding may write or leave out: null, empty text, empty lists and states, zero counts. */
export function pruned(value: unknown): unknown {
  return prunedMember('', value, true);
}

/** {@link pruned}, and conditions in order of their types where their order does not count. */
export function comparable(value: unknown, conditionOrder: boolean): unknown {
  return prunedMember('', value, conditionOrder);
}

function prunedMember(key: string, value: unknown, conditionOrder: boolean): unknown {
  if (value === null || value === '' || (value === 0 && zeroFields.has(key)) || (value === false && key === 'ready'))
    return undefined;
  if (typeof value === 'string' && key === 'message' && value.length > longMessage) return value.replace(halfCharacter, '');
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    if (value.length === 0) return undefined;
    const items = value.map((item) => prunedMember('', item, conditionOrder));
    return key === 'conditions' && !conditionOrder ? items.sort(byType) : items;
  }
  const result: Record<string, unknown> = {};
  for (const member of Object.keys(value)) {
    const kept = prunedMember(member, (value as Record<string, unknown>)[member], conditionOrder);
    if (kept !== undefined) result[member] = kept;
  }
  return (key === 'state' || key === 'lastState') && Object.keys(result).length === 0 ? undefined : result;
}

function byType(a: unknown, b: unknown): number {
  const [first, second] = [String((a as { type: unknown }).type), String((b as { type: unknown }).type)];
  return first < second ? -1 : Number(first > second);
}

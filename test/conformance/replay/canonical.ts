const zeroFields: ReadonlySet<string> = new Set(['restartCount', 'observedGeneration', 'signal', 'exitCode']);

/** The rest of a character that upstream cut in a long termination message. Our manager cuts before it (docs/divergences, S11). */
const halfCharacter = /\ufffd{1,3}$/;
const longMessage = 500;

/** JSON without the empty values that Go's encoding may write or leave out: null, empty text, empty lists and states, zero counts. */
export function pruned(value: unknown, key = ''): unknown {
  if (value === null || value === '' || (value === 0 && zeroFields.has(key)) || (value === false && key === 'ready'))
    return undefined;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => pruned(item));
  if (typeof value === 'string' && key === 'message' && value.length > longMessage) return value.replace(halfCharacter, '');
  if (typeof value !== 'object') return value;
  const result: Record<string, unknown> = {};
  for (const [member, inner] of Object.entries(value as object)) {
    const kept = pruned(inner, member);
    if (kept !== undefined) result[member] = kept;
  }
  return Object.keys(result).length === 0 && ['state', 'lastState'].includes(key) ? undefined : result;
}

/** {@link pruned}, and conditions in order of their types where their order does not count. */
export function comparable(value: unknown, conditionOrder: boolean): unknown {
  const plain = pruned(value);
  return conditionOrder ? plain : sortedConditions(plain);
}

function sortedConditions(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => sortedConditions(item));
    return key === 'conditions' ? items.sort(byType) : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([member, inner]) => [member, sortedConditions(inner, member)]));
}

function byType(a: unknown, b: unknown): number {
  return String((a as { type: unknown }).type).localeCompare(String((b as { type: unknown }).type));
}

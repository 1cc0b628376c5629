/**
 * A deep copy that nobody can change. What a pod or a node was before is known only as long as the object that was given is not the
 * one that is given again. A `Date`, as client-node has it, becomes its time in text, and a member that is null is left out, as a server does.
 */
export function ownCopy<T>(value: T): T {
  return copyOf(value) as T;
}

function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(copyOf));
  if (value instanceof Date) return value.toISOString();
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.freeze(Object.fromEntries(members.map(([key, member]) => [key, copyOf(member)])));
}

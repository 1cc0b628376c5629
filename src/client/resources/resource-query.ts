type QueryValue = string | number | boolean | undefined;

/** The query of a request: members that are undefined are left out. Undefined when none is left. */
export function queryOf(members: Readonly<Record<string, QueryValue>>): URLSearchParams | undefined {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(members)) if (value !== undefined) query.set(key, String(value));
  return query.size === 0 ? undefined : query;
}

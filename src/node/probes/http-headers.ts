const userAgent = 'kube-probe/1.36';
/** What the request says by itself, as Go's client does. */
const ofTheRequest: readonly string[] = ['connection', 'content-length', 'host', 'trailer', 'transfer-encoding'];

export interface ProbeHeaders {
  /** By name in lower case; several values of one name are several lines. */
  readonly headers: Record<string, string[]>;
  /** The host that the spec wants to be named; undefined where it wants the address itself. */
  readonly host: string | undefined;
}

/**
 * The headers of a probe: those of the spec, a user agent, and that any answer is welcome. An empty value in the spec takes
 * one of the latter away. Behaviour of pkg/probe/http/request.go, v1.36.3.
 */
export function probeHeaders(ofSpec: readonly { readonly name: string; readonly value: string }[]): ProbeHeaders {
  const headers = new Map<string, string[]>();
  for (const { name, value } of ofSpec) {
    const key = name.toLowerCase();
    const values = headers.get(key);
    if (values === undefined) headers.set(key, [value]);
    else values.push(value);
  }
  const host = headers.get('host')?.[0] || undefined;
  for (const name of ofTheRequest) headers.delete(name);
  for (const [name, value] of [
    ['user-agent', userAgent],
    ['accept', '*/*'],
  ] as const) {
    const given = headers.get(name);
    if (given === undefined) headers.set(name, [value]);
    else if (given[0] === '') headers.delete(name);
  }
  return { headers: Object.fromEntries(headers), host };
}

// Behaviour of URLsMatch and isDefaultRegistryMatch in pkg/credentialprovider, v1.36.3.

/** Where credentials are for: a host with a port or without, and a path that image names begin with. */
export interface RegistryLocation {
  /** Its parts may have the wild card `*`. */
  readonly host: string;
  readonly port: string;
  /** Empty, or with a slash before it. */
  readonly path: string;
}

/** Reads `quay.io:443/team`; a scheme before it does not count, nor does `/v1/` or `/v2/`. Undefined for what is none. */
export function registryLocation(text: string): RegistryLocation | undefined {
  const found = /^(?:https?:\/\/)?(\[[^\]/]*\]|[^/:?#@]*)(?::(\d*))?(\/[^?#]*)?$/.exec(text);
  if (found === null) return undefined;
  const [, host = '', port = '', path = ''] = found;
  if (host === '') return undefined;
  const own = /^\/v[12]\//.test(path) ? path.slice(3) : path;
  return { host, port, path: own === '/' ? '' : own };
}

/** True when the image's repository is at the place that the credentials are for. */
export function isLocationOf({ host, port, path }: RegistryLocation, image: RegistryLocation): boolean {
  if (port !== image.port || !image.path.startsWith(path)) return false;
  const parts = host.split('.');
  const others = image.host.split('.');
  return parts.length === others.length && parts.every((part, index) => matches(part, others[index] ?? ''));
}

/** True for a repository of Docker Hub. */
export function isOfDefaultRegistry(repository: string): boolean {
  const [first = '', ...rest] = repository.split('/');
  if (first === '') return false;
  if (rest.length === 0 || first === 'docker.io' || first === 'index.docker.io') return true;
  return !/[.:]/.test(first);
}

/** `*` stands for any text. What stands between two stars is taken where it comes first: a later place could never help. */
function matches(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return pattern === text;
  if (first.length + last.length > text.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const between of others) {
    const found = text.indexOf(between, at);
    if (found < 0) return false;
    at = found + between.length;
  }
  return at <= end;
}

import type { KubeTransport } from '../../../src/index.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** Each right of the roles, as `VERB GROUP/RESOURCE`. */
export function rightsOf(rules: readonly Rule[]): string[] {
  const rights = rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`))),
  );
  return [...new Set(rights)].sort();
}

const claimStatus = 'resource.k8s.io/resourceclaims/status';

/** The rights that the requests of a transport use, as `VERB GROUP/RESOURCE`, from now on. A watch that begins with a list uses both. */
export function noteRights(transport: KubeTransport): ReadonlySet<string> {
  const used = new Set<string>();
  const [request, stream] = [transport.request.bind(transport), transport.stream.bind(transport)];
  transport.request = (options) => {
    const [verb, resource] = [verbOf(options.method, options.path), resourceOf(options.path)];
    used.add(`${verb} ${resource}`);
    // the server asks for this one, too, where the devices of a claim or the pods that it is for change
    if (resource === claimStatus && verb !== 'get') used.add(`${verb} ${resource.replace('status', 'binding')}`);
    return request(options);
  };
  transport.stream = (options) => {
    used.add(`watch ${resourceOf(options.path)}`);
    if (options.query?.get('sendInitialEvents') === 'true') used.add(`list ${resourceOf(options.path)}`);
    return stream(options);
  };
  return used;
}

function verbOf(method: string, path: string): string {
  const verbs: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };
  return verbs[method] ?? (partsOf(path).length > 1 ? 'get' : 'list');
}

function resourceOf(path: string): string {
  const [resource, , subresource] = partsOf(path);
  const group = path.startsWith('/apis/') ? path.split('/')[2] : '';
  return `${group}/${resource}${subresource === undefined ? '' : `/${subresource}`}`;
}

/** RESOURCE, or RESOURCE NAME, or RESOURCE NAME SUBRESOURCE. */
function partsOf(path: string): string[] {
  const parts = path.split('/').slice(path.startsWith('/apis/') ? 4 : 3);
  return parts[0] === 'namespaces' && parts.length > 2 ? parts.slice(2) : parts;
}

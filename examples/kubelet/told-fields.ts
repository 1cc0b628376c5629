// What `/configz` tells of the program itself: the fields that are no options of the agent.
import { fields } from './config-fields.ts';
import { isRecord } from './config-values.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The kubelet's. */
export const ownDefaults = {
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  failCgroupV1: true,
  failSwapOn: true,
  'logging.format': 'text',
  'logging.verbosity': 0,
  maxOpenFiles: 1_000_000,
  oomScoreAdj: -999,
} as const;

/** The fields of `own` that the program follows, nested as in the file. `undone`: those that the machine has not let it follow. */
export function toldFields(own: Fields, undone: readonly string[] = []): Fields {
  const told: Record<string, unknown> = {};
  for (const [path, value] of Object.entries<unknown>({ ...ownDefaults, ...own })) {
    const isOwn = fields[path]?.kind === 'works' && fields[path].option === undefined;
    // that there is a server is what the agent says itself
    if (isOwn && path !== 'enableServer' && !undone.includes(path)) put(told, path.split('.'), value);
  }
  return told;
}

function put(told: Record<string, unknown>, [name = '', ...below]: readonly string[], value: unknown): void {
  if (below.length === 0) {
    told[name] = value;
    return;
  }
  const before = told[name];
  const inner: Record<string, unknown> = isRecord(before) ? { ...before } : {};
  put(inner, below, value);
  told[name] = inner;
}

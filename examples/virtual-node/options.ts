import { parseArgs } from 'node:util';

export type ServerChoice =
  | { readonly kind: 'in-memory' }
  | { readonly kind: 'control-plane' }
  | { readonly kind: 'kubeconfig'; readonly file: string; readonly context: string | undefined };

/** `node`: a whole node agent runs the pods; `schedule`: a scheduler places them on several virtual nodes; `fleet`: several processes share virtual nodes. */
export type RunKind = 'virtual' | 'node' | 'schedule' | 'fleet';

export interface DemoOptions {
  readonly kind: RunKind;
  readonly pods: number;
  /** Of a fleet: how many processes share how many nodes. */
  readonly members: number;
  readonly nodes: number;
  /** Undefined: on a terminal until Ctrl-C, elsewhere {@link defaultSeconds}. */
  readonly seconds: number | undefined;
  readonly seed: number;
  /** True: things go wrong. */
  readonly breaks: boolean;
  readonly server: ServerChoice;
  /** Undefined: the run creates its own. */
  readonly namespace: string | undefined;
  /** Where the debug page is served, on the loopback address; 0 is a free port, undefined is nowhere. */
  readonly debugPort: number | undefined;
}

export const defaultSeconds = 15;
/** A member that is killed is not missed before its Leases have run out. */
export const defaultFleetSeconds = 40;

/** A wrong command line. The message names the broken rule. */
export class UsageError extends Error {}

const config = {
  node: { type: 'boolean', default: false },
  schedule: { type: 'boolean', default: false },
  fleet: { type: 'string' },
  nodes: { type: 'string' },
  pods: { type: 'string' },
  seconds: { type: 'string' },
  seed: { type: 'string' },
  break: { type: 'boolean', default: false },
  kubeconfig: { type: 'string' },
  context: { type: 'string' },
  namespace: { type: 'string' },
  'control-plane': { type: 'boolean', default: false },
  'debug-port': { type: 'string', default: '0' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** The options of a command line, or 'help'. Throws a {@link UsageError}. `random` picks the seed where none is given. */
export function parseOptions(argv: readonly string[], random: () => number = Math.random): DemoOptions | 'help' {
  const values = read(argv);
  if (values.help) return 'help';
  const { node, schedule } = values;
  if (node && schedule) throw new UsageError('--node and --schedule exclude each other');
  if (node || schedule) refuseInMemory(node ? '--node' : '--schedule', values);
  if (values.break && values.kubeconfig !== undefined) {
    throw new UsageError('--break and --kubeconfig exclude each other: a real cluster is not broken on purpose');
  }
  if (values.fleet !== undefined) refuseOtherKinds(values);
  else if (values.nodes !== undefined) throw new UsageError('--nodes needs --fleet N');
  const kind = values.fleet !== undefined ? 'fleet' : node ? 'node' : schedule ? 'schedule' : 'virtual';
  return {
    kind,
    pods: integer('--pods', values.pods ?? defaultPods[kind], 1, 5000),
    members: integer('--fleet', values.fleet ?? '1', 1, 16),
    nodes: integer('--nodes', values.nodes ?? '200', 1, 2000),
    seconds: values.seconds === undefined ? undefined : seconds(values.seconds),
    seed: values.seed === undefined ? Math.floor(random() * 1_000_000) : integer('--seed', values.seed, 0, 2 ** 32 - 1),
    breaks: values.break,
    server: serverOf(values),
    namespace: values.namespace === undefined ? undefined : namespaceName(values.namespace),
    debugPort: values['debug-port'] === 'off' ? undefined : integer('--debug-port', values['debug-port'], 0, 65_535),
  };
}

function read(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: config, strict: true, allowPositionals: false }).values;
  } catch (error) {
    // "Unknown option '--x'. To specify a positional argument starting with ...": only the first sentence helps
    const [sentence = ''] = String(error instanceof Error ? error.message : error).split(/\. |\.?\n/);
    throw new UsageError(sentence.replace(/ is ambiguous$/, " is missing, or starts with '-': write it as --OPTION=VALUE"));
  }
}

function serverOf(values: ReturnType<typeof read>): ServerChoice {
  const { kubeconfig: file, context } = values;
  if (file !== undefined && values['control-plane']) throw new UsageError('--kubeconfig and --control-plane exclude each other');
  if (context !== undefined && file === undefined) throw new UsageError('--context needs --kubeconfig FILE');
  if (file === '') throw new UsageError('--kubeconfig must be the name of a file, got ""');
  if (file !== undefined) return { kind: 'kubeconfig', file, context };
  return { kind: values['control-plane'] ? 'control-plane' : 'in-memory' };
}

const defaultPods: Readonly<Record<RunKind, string>> = { virtual: '200', node: '30', schedule: '80', fleet: '400' };

function refuseOtherKinds({ node, schedule, break: breaks }: ReturnType<typeof read>): void {
  const others = [
    ['--node', node],
    ['--schedule', schedule],
    ['--break', breaks],
  ] as const;
  for (const [option, isGiven] of others) if (isGiven) throw new UsageError(`--fleet and ${option} exclude each other`);
}

/** All of the run is in memory. */
function refuseInMemory(mode: string, values: ReturnType<typeof read>): void {
  const others = [
    ['--kubeconfig', values.kubeconfig !== undefined],
    ['--control-plane', values['control-plane']],
    ['--namespace', values.namespace !== undefined],
  ] as const;
  for (const [option, isGiven] of others) if (isGiven) throw new UsageError(`${mode} and ${option} exclude each other`);
}

function integer(option: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new UsageError(`${option} must be an integer from ${min} to ${max}, got ${JSON.stringify(text)}`);
}

function seconds(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value >= 1 && value <= 86_400) return value;
  throw new UsageError(`--seconds must be a number from 1 to 86400, got ${JSON.stringify(text)}`);
}

function namespaceName(text: string): string {
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)) return text;
  const rule = "lower case letters, digits and '-', at most 63, with a letter or digit at both ends";
  throw new UsageError(`--namespace must be ${rule}, got ${JSON.stringify(text)}`);
}

import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { load } from 'js-yaml';
import type { AgentSettings } from 'pod-status-manager/kubelet';
import { type Field, fields } from './config-fields.ts';
import { againOf } from './config-flags.ts';
import { ConfigError, isRecord } from './config-values.ts';
import { dropInFiles, mergePatch, withEarlyDefaults } from './drop-ins.ts';

type Values = Readonly<Record<string, unknown>>;

/** What a configuration says. */
export interface KubeletConfig {
  /** What goes to the agent as it is. */
  readonly options: AgentSettings;
  /** The fields that the program itself uses, by their names with the objects that they are in. */
  readonly own: Values;
  /** Fields that do nothing here, each with the reason. */
  readonly unused: readonly string[];
  /** Files of the folder that do not end in `.conf`. */
  readonly skipped: readonly string[];
}

/** Where a configuration comes from. */
export interface ConfigSources {
  /** A file of kind KubeletConfiguration. Default: none. */
  readonly config?: string | undefined;
  /** A folder of such files. Those that end in `.conf` change what the file says, in the order of their names. Default: none. */
  readonly configDir?: string | undefined;
  /** What flags say of fields, by the names of these with the objects that they are in. It counts more than every file. Default: nothing. */
  readonly settings?: Values;
}

const head = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
/** Fields with a path, which may be relative to the folder of the file. */
const paths = [
  ...['staticPodPath', 'authentication.x509.clientCAFile', 'tlsCertFile', 'tlsPrivateKeyFile', 'resolvConf'],
  ...['volumePluginDir', 'podLogsDir'],
];

/**
 * What file, folder and flags say together. Throws a {@link ConfigError} for a field that no kubelet knows, for one that stands there
 * twice, and for a value that is wrong or that the agent cannot follow.
 */
export async function readConfig({ config, configDir, settings = {} }: ConfigSources): Promise<KubeletConfig> {
  let document: Values = config === undefined ? head : withFullPaths(await readConfigFile(config), dirname(resolve(config)));
  const { taken, skipped } = configDir === undefined ? { taken: [], skipped: [] } : await dropInFiles(configDir);
  const isChanged = taken.length > 0 || settings.nodeStatusUpdateFrequency !== undefined;
  if (isChanged) document = withEarlyDefaults(document, config !== undefined);
  for (const path of taken) document = mergePatch(document, await readConfigFile(path));
  for (const [path, value] of Object.entries(settings)) document = withField(document, path.split('.'), value);
  return { ...configOf(document, new Set(Object.keys(settings))), skipped };
}

async function readConfigFile(path: string): Promise<Values> {
  try {
    const document = parseYaml(await readFile(path, 'utf8'));
    if (!isRecord(document)) throw new ConfigError('the file must hold an object');
    const { apiVersion, kind, ...given } = document;
    requireHead(apiVersion, kind);
    for (const [name, value] of Object.entries(given)) readAt(name, value, () => {});
    return document;
  } catch (error) {
    throw new ConfigError(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** The words of the parser quote the file, which may have a secret: only its reason and the line are told. */
function parseYaml(text: string): unknown {
  try {
    return load(text);
  } catch (error) {
    const { reason, mark } = isRecord(error) ? error : {};
    const line = isRecord(mark) && typeof mark.line === 'number' ? ` in line ${mark.line + 1}` : '';
    // some reasons end with a name of the file's: in quotation marks, as a tag, or after a colon
    const [why = ''] = typeof reason === 'string' ? reason.split(/["!<:]/) : [];
    throw new ConfigError(`${why.trim() || 'the file is no YAML'}${line}`);
  }
}

function requireHead(apiVersion: unknown, kind: unknown): void {
  if (apiVersion === head.apiVersion && kind === head.kind) return;
  throw new ConfigError(`the file must be of apiVersion ${head.apiVersion} and kind ${head.kind}`);
}

/** What a file says that was read. `flagged`: the fields that a flag has set. */
export function configOf(
  { apiVersion, kind, ...given }: Values,
  flagged: ReadonlySet<string> = new Set(),
): Omit<KubeletConfig, 'skipped'> {
  requireHead(apiVersion, kind);
  const options: Record<string, unknown> = {};
  const own: Record<string, unknown> = {};
  const unused: string[] = [];
  const note = (name: string, value: unknown, field: Field): void => {
    const read = flagged.has(name) ? (field.read.exact ?? field.read) : field.read;
    const said = read(value, name);
    if (said === undefined) return;
    if (field.option !== undefined && !field.option.startsWith('server.')) options[field.option] = said;
    else if (field.kind === 'works') own[name] = said;
    else if (field.kind === 'without effect') unused.push(`${name}: ${field.why}`);
  };
  for (const [name, value] of Object.entries(given)) readAt(name, value, note);
  return { options: withDefaults(options), own, unused };
}

/** Tells of every field below a value. What is null counts as left out. */
function readAt(path: string, value: unknown, tell: (path: string, value: unknown, field: Field) => void): void {
  const field = Object.hasOwn(fields, path) ? fields[path] : undefined;
  if (field === undefined && !Object.keys(fields).some((each) => each.startsWith(`${path}.`))) {
    throw new ConfigError(`${path} is no field of KubeletConfiguration`);
  }
  if (value === null || value === undefined) return;
  if (field !== undefined) {
    tell(path, value, field);
    return;
  }
  if (!isRecord(value)) throw new ConfigError(`${path} must be an object, got ${JSON.stringify(value)}`);
  for (const [name, each] of Object.entries(value)) readAt(`${path}.${name}`, each, tell);
}

/** The defaults that depend on another field, as SetDefaults_KubeletConfiguration has them. The agent checks what each option says. */
function withDefaults(given: Readonly<Record<string, unknown>>): AgentSettings {
  const { nodeStatusUpdateFrequencyMs, nodeStatusReportFrequencyMs, serializeImagePulls, maxParallelImagePulls } = given;
  const pullsMany = typeof maxParallelImagePulls === 'number' && maxParallelImagePulls > 1;
  if (serializeImagePulls === true && pullsMany) {
    const rule = 'at most 1 with serializeImagePulls: true, which is the default before files of --config-dir are read';
    throw new ConfigError(`maxParallelImagePulls must be ${rule}, got ${maxParallelImagePulls}`);
  }
  return {
    ...given,
    ...(typeof nodeStatusUpdateFrequencyMs === 'number' &&
      nodeStatusReportFrequencyMs === undefined && { nodeStatusReportFrequencyMs: nodeStatusUpdateFrequencyMs }),
    ...(pullsMany && serializeImagePulls === undefined && { serializeImagePulls: false }),
  };
}

/** A flag takes the place of the whole field; gates that it does not name stay as they are. */
function withField(values: Values, [name = '', ...below]: readonly string[], value: unknown): Values {
  const before = values[name];
  if (below.length > 0) return { ...values, [name]: withField(isRecord(before) ? before : {}, below, value) };
  return { ...values, [name]: name === 'featureGates' ? againOf(before, value) : value };
}

function withFullPaths(document: Values, folder: string): Values {
  return paths.reduce((given, path) => withFullPath(given, path.split('.'), folder), document);
}

function withFullPath(values: Values, [name = '', ...below]: readonly string[], folder: string): Values {
  const value = values[name];
  if (below.length > 0) return isRecord(value) ? { ...values, [name]: withFullPath(value, below, folder) } : values;
  return typeof value === 'string' && value !== '' ? { ...values, [name]: resolve(folder, value) } : values;
}

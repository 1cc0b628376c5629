// Rules of validateExtenders, pkg/scheduler/apis/config/validation, and of the TLS files of client-go, v1.36.3.

import { goDurationMs } from '../../api/json/go-duration.ts';
import { invalidOption } from '../../base/errors.ts';
import { isExtendedResource, isLabelKey } from '../../base/names.ts';
import { longestTimerMs, membersOption } from '../../base/options.ts';

/** A resource of nodes that an extender keeps the accounts of. */
export interface ExtenderManagedResource {
  /** The name of an extended resource, such as `example.com/gpu`. */
  readonly name: string;
  /** True: whether a node has enough of it is the extender's to say, and no plugin looks at it. Default false. */
  readonly ignoredByScheduler?: boolean;
}

/** How an extender is known, and how the scheduler shows who it is. Data counts before a file of the same thing. */
export interface ExtenderTlsConfig {
  /** True: the certificate of the extender is not checked. Not together with a CA. Default false. */
  readonly insecure?: boolean;
  /** The name that the certificate has to have. Default: the host of `urlPrefix`. */
  readonly serverName?: string;
  /** A file with the certificate that the scheduler shows. It is read again for each request, as the other files are. */
  readonly certFile?: string;
  /** A file with the key of that certificate. */
  readonly keyFile?: string;
  /** A file with the CAs that are trusted. Default: those of the system. */
  readonly caFile?: string;
  /** The certificate that the scheduler shows: PEM, in base64. */
  readonly certData?: string;
  /** The key of that certificate: PEM, in base64. */
  readonly keyData?: string;
  /** The CAs that are trusted: PEM, in base64. */
  readonly caData?: string;
}

/** A program behind HTTP that has a say in where pods go: an entry of `extenders` in kube-scheduler's configuration. */
export interface ExtenderOptions {
  /** Where the program is: `https://gpu.example.com/scheduler`. */
  readonly urlPrefix: string;
  /** What follows the prefix to leave nodes out. Default: none, and the program is not asked that. */
  readonly filterVerb?: string;
  /** The same, to narrow the nodes where other pods could be ended for a pod, and the pods that would be. */
  readonly preemptVerb?: string;
  /** The same, to score nodes. */
  readonly prioritizeVerb?: string;
  /** How many times the scores of the program count, from 1 up. Default: none; needed with `prioritizeVerb`. */
  readonly weight?: number;
  /** What follows the prefix to bind a pod, in place of the plugins that bind. One extender at most has it. */
  readonly bindVerb?: string;
  /** True: without a CA in `tlsConfig` the certificate of the extender is not checked. Default false. */
  readonly enableHTTPS?: boolean;
  /** What TLS is made of. Default: the CAs of the system, and no certificate of one's own. */
  readonly tlsConfig?: ExtenderTlsConfig;
  /** How long an answer may take, as Go writes it: `1.5s`. Default, and for 0: `5s`. */
  readonly httpTimeout?: string;
  /** True: the program knows the nodes, and gets and gives their names alone. Default false. */
  readonly nodeCacheCapable?: boolean;
  /** The program is asked of pods alone that ask for one of these. Default: of all pods. */
  readonly managedResources?: readonly ExtenderManagedResource[];
  /** True: when the program fails, the pod is placed without it. Default false: the attempt fails. */
  readonly ignorable?: boolean;
}

/** An extender's options with their defaults. An empty verb: the extender is not asked that. */
export interface CheckedExtender extends Required<Omit<ExtenderOptions, 'httpTimeout' | 'tlsConfig'>> {
  /** How errors call the option. */
  readonly path: string;
  readonly timeoutMs: number;
  readonly tls: ExtenderTlsConfig;
}

const members = [
  ...['urlPrefix', 'filterVerb', 'preemptVerb', 'prioritizeVerb', 'weight', 'bindVerb', 'enableHTTPS', 'tlsConfig'],
  ...['httpTimeout', 'nodeCacheCapable', 'managedResources', 'ignorable'],
] as const satisfies readonly (keyof ExtenderOptions)[];
const flags = ['enableHTTPS', 'nodeCacheCapable', 'ignorable'] as const;
const tlsTexts = ['serverName', 'certFile', 'keyFile', 'caFile'] as const;
const tlsBytes = ['certData', 'keyData', 'caData'] as const;

const defaultTimeoutMs = 5000;

/**
 * The extenders of a scheduler, checked. A member that is null counts as absent. Throws ERR_INVALID_OPTION, naming the place, the rule
 * and the value. No file is read.
 */
export function extendersOption(path: string, value: unknown): readonly CheckedExtender[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalidOption(path, 'a list of extenders', value);
  const checked = value.map((item: unknown, index) => extenderAt(`${path}[${index}]`, item));
  requireOneBinder(path, checked);
  const managed = new Set<string>();
  for (const { path: at, managedResources } of checked) {
    for (const [index, { name }] of managedResources.entries()) {
      const rule = 'a resource that no extender before has, and this one but once';
      if (managed.has(name)) throw invalidOption(`${at}.managedResources[${index}].name`, rule, name);
      managed.add(name);
    }
  }
  return checked;
}

/** Throws ERR_INVALID_OPTION where more than one of them binds. */
export function requireOneBinder(path: string, extenders: readonly Pick<CheckedExtender, 'bindVerb'>[]): void {
  const binders = extenders.filter(({ bindVerb }) => bindVerb !== '').length;
  if (binders > 1) throw invalidOption(path, 'extenders of which at most one has a `bindVerb`', `${binders} of them`);
}

/** The resources that no plugin is to look at. */
export function ignoredResourcesOf(extenders: readonly Pick<CheckedExtender, 'managedResources'>[]): readonly string[] {
  const all = extenders.flatMap(({ managedResources }) => managedResources);
  return all.filter(({ ignoredByScheduler }) => ignoredByScheduler === true).map(({ name }) => name);
}

function extenderAt(path: string, value: unknown): CheckedExtender {
  const given = membersOption(path, value, members);
  const urlPrefix = urlAt(`${path}.urlPrefix`, given.urlPrefix);
  const text = (name: keyof ExtenderOptions): string => textAt(`${path}.${name}`, given[name]);
  const [enableHTTPS, nodeCacheCapable, ignorable] = flags.map((name) => flagAt(`${path}.${name}`, given[name]));
  const prioritizeVerb = text('prioritizeVerb');
  const weight = given.weight ?? 0;
  if (!Number.isSafeInteger(weight)) throw invalidOption(`${path}.weight`, 'a whole number', weight);
  if (prioritizeVerb !== '' && Number(weight) < 1)
    throw invalidOption(`${path}.weight`, 'a whole number from 1 up, because there is a `prioritizeVerb`', given.weight);
  return {
    path,
    urlPrefix,
    ...{ filterVerb: text('filterVerb'), preemptVerb: text('preemptVerb'), prioritizeVerb, bindVerb: text('bindVerb') },
    weight: Number(weight),
    ...{ enableHTTPS: enableHTTPS === true, nodeCacheCapable: nodeCacheCapable === true, ignorable: ignorable === true },
    tls: tlsAt(`${path}.tlsConfig`, given.tlsConfig ?? {}, enableHTTPS === true),
    timeoutMs: timeoutAt(`${path}.httpTimeout`, given.httpTimeout ?? '0'),
    managedResources: managedAt(`${path}.managedResources`, given.managedResources ?? []),
  };
}

/** The value is never shown: it may hold a password. */
function urlAt(path: string, value: unknown): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw invalidOption(path, 'an http or https URL', url === undefined ? typeof value : url.protocol);
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    throw invalidOption(path, 'a URL whose user and password are percent-encoded', undefined);
  }
  return String(value);
}

function textAt(path: string, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw invalidOption(path, 'text', value);
  return value;
}

function flagAt(path: string, value: unknown): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value !== 'boolean') throw invalidOption(path, 'a boolean', value);
  return value;
}

function timeoutAt(path: string, value: unknown): number {
  const ms = typeof value === 'string' ? goDurationMs(value) : undefined;
  if (ms === undefined || !(ms >= 0 && ms <= longestTimerMs))
    throw invalidOption(path, 'a time as Go writes it, such as "5s", from 0 up to 24 days', value);
  return ms === 0 ? defaultTimeoutMs : Math.max(1, ms);
}

function managedAt(path: string, value: unknown): readonly ExtenderManagedResource[] {
  if (!Array.isArray(value)) throw invalidOption(path, 'a list', value);
  return value.map((item: unknown, index) => {
    const at = `${path}[${index}]`;
    const { name, ignoredByScheduler } = membersOption(at, item, ['name', 'ignoredByScheduler']);
    const isName = isLabelKey(name) && isExtendedResource(name) && isLabelKey(`requests.${name}`);
    if (!isName) throw invalidOption(`${at}.name`, 'the name of an extended resource, such as "example.com/gpu"', name);
    return { name, ignoredByScheduler: flagAt(`${at}.ignoredByScheduler`, ignoredByScheduler) };
  });
}

function tlsAt(path: string, value: unknown, enableHTTPS: boolean): ExtenderTlsConfig {
  const given = membersOption(path, value, ['insecure', ...tlsTexts, ...tlsBytes]);
  const texts = tlsTexts.map((name) => [name, textAt(`${path}.${name}`, given[name])] as const);
  const bytes = tlsBytes.map((name) => [name, base64At(`${path}.${name}`, given[name])] as const);
  const tls = Object.fromEntries([...texts, ...bytes].filter(([, text]) => text !== '')) as ExtenderTlsConfig;
  const insecure = flagAt(`${path}.insecure`, given.insecure);
  const has = (data: string | undefined, file: string | undefined): boolean => (data ?? file) !== undefined;
  const hasCA = has(tls.caData, tls.caFile);
  if (insecure && hasCA)
    throw invalidOption(`${path}.insecure`, 'absent or false beside a CA, with which nothing would be checked', insecure);
  if (has(tls.certData, tls.certFile) !== has(tls.keyData, tls.keyFile))
    throw invalidOption(path, 'with a certificate and its key, or without both', 'one of them');
  return { ...tls, insecure: insecure || (enableHTTPS && !hasCA) };
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The value is never shown: it may be a key. */
function base64At(path: string, value: unknown): string {
  const text = value ?? '';
  // as Go reads it, lines may be broken
  const joined = typeof text === 'string' ? text.replaceAll(/[\r\n]/g, '') : undefined;
  if (joined === undefined || !base64.test(joined)) throw invalidOption(path, 'text in base64', typeof value);
  return joined;
}

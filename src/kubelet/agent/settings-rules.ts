import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import { canonicalQuantity } from '../../api/quantity/quantity.ts';
import { invalidOption } from '../../base/errors.ts';
import { isDnsSubdomain } from '../../base/names.ts';
import { integerOption, longestTimerMs, numberOption, oneOfOption, optionOfType } from '../../base/options.ts';
import { parseAddress } from '../../node/pod-status/pod-ips.ts';
import { requireSysctlPatterns } from '../admission/sysctls.ts';
import { isUnspecified } from '../machine/ip-kinds.ts';
import { type AgentSettings, defaultSettings, type ResolvedSettings } from './agent-settings.ts';

type Name = keyof ResolvedSettings;

export const settingNames = [
  ...(Object.keys(defaultSettings) as Name[]),
  ...(['staticPodPath', 'staticPodURL', 'providerID', 'maxParallelImagePulls'] as const),
];

const times = [
  ...(['fileCheckFrequencyMs', 'httpCheckFrequencyMs', 'syncFrequencyMs', 'nodeStatusUpdateFrequencyMs'] as const),
  ...(['nodeStatusReportFrequencyMs', 'containerLogMonitorIntervalMs', 'runtimeRequestTimeoutMs'] as const),
];
const switches = ['registerNode', 'cgroupsPerQOS', 'cpuCFSQuota', 'seccompDefault', 'serializeImagePulls'] as const;
const lists = ['nodeIPs', 'registerWithTaints', 'clusterDNS', 'allowedUnsafeSysctls'] as const;
const quantities = ['systemReserved', 'kubeReserved'] as const;
const percentages = ['imageGCHighThresholdPercent', 'imageGCLowThresholdPercent'] as const;
const folders = ['rootDirectory', 'podLogsDirectory'] as const;
const signals = [
  ...['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree', 'pid.available'],
  ...['containerfs.available', 'containerfs.inodesFree'],
];
const longestWaitMs = longestTimerMs / 2;

/** The settings with every default. Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function resolveSettings(given: AgentSettings): ResolvedSettings {
  const named = settingNames.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]);
  const settings: ResolvedSettings = { ...defaultSettings, ...(Object.fromEntries(named) as AgentSettings) };
  for (const name of folders) absolutePath(name, settings[name]);
  if (settings.staticPodPath !== undefined) absolutePath('staticPodPath', settings.staticPodPath);
  for (const name of times) numberOption(name, settings[name], 100, longestWaitMs);
  for (const name of switches) optionOfType(name, settings[name], 'boolean');
  for (const name of lists) if (!Array.isArray(settings[name])) throw invalidOption(name, 'a list', settings[name]);
  for (const name of ['nodeIPs', 'clusterDNS'] as const) requireAddresses(name, settings[name]);
  requireOneOfFamily(settings.nodeIPs);
  for (const name of quantities) requireQuantities(name, settings[name]);
  for (const name of percentages) numberOption(name, settings[name], 0, 100);
  requireThresholds(settings.evictionHard);
  requireNumbers(settings);
  requireDomain(settings.clusterDomain);
  oneOfOption('cgroupDriver', settings.cgroupDriver, ['cgroupfs', 'systemd']);
  const policies = ['NeverVerifyPreloadedImages', 'AlwaysVerify', 'NeverVerify'];
  oneOfOption('imagePullCredentialsVerificationPolicy', settings.imagePullCredentialsVerificationPolicy, policies);
  if (!settings.cgroupRoot.startsWith('/')) throw invalidOption('cgroupRoot', 'an absolute path', settings.cgroupRoot);
  if (settings.resolvConf !== '') absolutePath('resolvConf', settings.resolvConf);
  quantityOf('containerLogMaxSize', settings.containerLogMaxSize);
  requireSysctlPatterns('allowedUnsafeSysctls', settings.allowedUnsafeSysctls);
  if (settings.imageGCLowThresholdPercent > settings.imageGCHighThresholdPercent) {
    const rule = 'at most imageGCHighThresholdPercent';
    throw invalidOption('imageGCLowThresholdPercent', rule, settings.imageGCLowThresholdPercent);
  }
  return settings;
}

function requireNumbers(settings: ResolvedSettings): void {
  integerOption('maxPods', settings.maxPods, 0);
  integerOption('podPidsLimit', settings.podPidsLimit, -1);
  integerOption('containerLogMaxFiles', settings.containerLogMaxFiles, 2);
  integerOption('nodeStatusMaxImages', settings.nodeStatusMaxImages, -1);
  integerOption('nodeLeaseDurationSeconds', settings.nodeLeaseDurationSeconds, 1);
  numberOption('kubeAPIQPS', settings.kubeAPIQPS, 1, 1e6);
  integerOption('kubeAPIBurst', settings.kubeAPIBurst, 1);
  numberOption('registryPullQPS', settings.registryPullQPS, 0, Number.MAX_SAFE_INTEGER);
  integerOption('registryBurst', settings.registryBurst, 0);
  numberOption('imageMinimumGCAgeMs', settings.imageMinimumGCAgeMs, 0, Number.MAX_SAFE_INTEGER);
  const { maxParallelImagePulls } = settings;
  if (maxParallelImagePulls !== undefined) integerOption('maxParallelImagePulls', maxParallelImagePulls, 1);
}

function absolutePath(name: string, value: unknown): void {
  if (typeof value !== 'string' || !isAbsolute(value)) throw invalidOption(name, 'an absolute path', value);
}

function requireAddresses(name: string, addresses: readonly string[]): void {
  for (const address of addresses) if (isIP(address) === 0) throw invalidOption(name, 'IP addresses', address);
}

/** component-helpers/node/util ParseNodeIPArgument, v0.36.3. */
function requireOneOfFamily(addresses: readonly string[]): void {
  if (addresses.length < 2) return;
  const families = addresses.map((address) => isIP(address));
  const isPair = addresses.length === 2 && families[0] !== families[1];
  if (isPair && !addresses.some((address) => isUnspecified(parseAddress(address)?.text ?? address))) return;
  throw invalidOption('nodeIPs', 'one address, or one of each family that is neither 0.0.0.0 nor ::', addresses);
}

function requireQuantities(name: string, value: Readonly<Record<string, string>>): void {
  if (typeof value !== 'object' || value === null) throw invalidOption(name, 'an object of quantities', value);
  for (const [resource, quantity] of Object.entries(value)) quantityOf(`${name}.${resource}`, quantity);
}

function quantityOf(name: string, value: unknown): void {
  try {
    if (typeof value === 'string' && !canonicalQuantity(value).startsWith('-')) return;
  } catch {
    // the same answer as for any other value
  }
  throw invalidOption(name, 'a quantity that is not negative, such as "100Mi"', value);
}

function requireThresholds(thresholds: Readonly<Record<string, string>>): void {
  if (typeof thresholds !== 'object' || thresholds === null) throw invalidOption('evictionHard', 'an object', thresholds);
  for (const [signal, threshold] of Object.entries(thresholds)) {
    if (!signals.includes(signal)) throw invalidOption('evictionHard', `an object with ${signals.join(', ')}`, signal);
    if (/^(?:100|\d{1,2}(?:\.\d+)?)%$/.test(threshold)) continue;
    quantityOf(`evictionHard.${signal}`, threshold);
  }
}

function requireDomain(domain: string): void {
  if (typeof domain === 'string' && (domain === '' || isDnsSubdomain(domain.replace(/\.$/, '')))) return;
  throw invalidOption('clusterDomain', 'a domain name, such as cluster.local', domain);
}

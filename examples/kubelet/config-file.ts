import { readFile } from 'node:fs/promises';
import { loadYaml } from '@kubernetes/client-node';
import type { AgentSettings } from 'pod-status-manager/kubelet';
import { ConfigError, fields, isRecord, withoutEffect } from './config-fields.ts';

/** What a configuration file says. */
export interface KubeletConfig {
  /** What goes to the agent as it is. */
  readonly options: AgentSettings;
  /** The fields that the program itself uses, by their names. */
  readonly own: Readonly<Record<string, unknown>>;
  /** Fields of the kubelet that do nothing here. */
  readonly unused: readonly string[];
}

/** Reads a file of kind KubeletConfiguration. Throws a {@link ConfigError} for a field that no kubelet knows, and for a wrong value. */
export async function readConfigFile(path: string): Promise<KubeletConfig> {
  const document: unknown = loadYaml(await readFile(path, 'utf8'));
  if (!isRecord(document)) throw new ConfigError(`${path} must hold an object`);
  return configOf(document);
}

/** The same of a file that was read. */
export function configOf({ apiVersion, kind, ...given }: Readonly<Record<string, unknown>>): KubeletConfig {
  if (apiVersion !== 'kubelet.config.k8s.io/v1beta1' || kind !== 'KubeletConfiguration') {
    throw new ConfigError('the file must be of apiVersion kubelet.config.k8s.io/v1beta1 and kind KubeletConfiguration');
  }
  const options: Record<string, unknown> = {};
  const own: Record<string, unknown> = {};
  const unused: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field !== undefined) (field.option === undefined ? own : options)[field.option ?? name] = field.read(value, name);
    else if (withoutEffect.includes(name)) unused.push(name);
    else throw new ConfigError(`${name} is no field of KubeletConfiguration`);
  }
  return { options: isSettings(options) ? options : {}, own, unused };
}

/** The agent itself checks what each of them says. */
function isSettings(options: object): options is AgentSettings {
  return Object.keys(options).every((name) => Object.values(fields).some(({ option }) => option === name));
}

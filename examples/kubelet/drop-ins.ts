import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from './config-values.ts';
import { durationMs } from './durations.ts';

type Values = Readonly<Record<string, unknown>>;

/** The files of a folder and of those in it, in the order of their names. `skipped` do not end in `.conf`. */
export async function dropInFiles(folder: string): Promise<{ readonly taken: string[]; readonly skipped: string[] }> {
  const taken: string[] = [];
  const skipped: string[] = [];
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      const below = await dropInFiles(path);
      taken.push(...below.taken);
      skipped.push(...below.skipped);
    } else (entry.name.endsWith('.conf') ? taken : skipped).push(path);
  }
  return { taken, skipped };
}

/** The kubelet's, for a node with Linux. */
const evictionHard = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
};

/**
 * With the defaults that the kubelet puts in before it reads drop-ins and flags, where these could not be told apart from what the file says.
 * Behaviour of loadConfigFile in cmd/kubelet/app/server.go and of SetDefaults_KubeletConfiguration, v1.36.3.
 */
export function withEarlyDefaults(values: Values, hasFile: boolean): Values {
  const { nodeStatusReportFrequency, nodeStatusUpdateFrequency, serializeImagePulls, maxParallelImagePulls } = values;
  const isSet = (time: unknown): boolean => time !== undefined && time !== null && durationMs(time) !== 0;
  return {
    ...values,
    ...(!isSet(nodeStatusReportFrequency) && {
      nodeStatusReportFrequency: isSet(nodeStatusUpdateFrequency) ? nodeStatusUpdateFrequency : '5m0s',
    }),
    serializeImagePulls: serializeImagePulls ?? !(Number(maxParallelImagePulls) > 1),
    // a kubelet without a file has no thresholds then; the agent keeps its own
    ...(hasFile && { evictionHard: values.evictionHard ?? evictionHard }),
  };
}

/** A JSON merge patch (RFC 7396): objects are merged name by name, lists and other values are replaced, null takes away. */
export function mergePatch(values: Values, patch: Values): Values {
  const merged = new Map(Object.entries(values));
  for (const [name, value] of Object.entries(patch)) {
    const before = merged.get(name);
    if (value === null) merged.delete(name);
    else merged.set(name, isRecord(value) ? mergePatch(isRecord(before) ? before : {}, value) : value);
  }
  return Object.fromEntries(merged);
}

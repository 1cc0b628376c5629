import { isDeepStrictEqual } from 'node:util';
import { ApiError, isStatusManagerError } from '../../../src/index.ts';
import type { PlayedCase, PlayedStep } from './play-refs.ts';
import type { RecordedObject, RefsCase, RefsOutcome, RefsStep } from './refs-case.ts';

/** What differs, each with its step. */
export function judgeRefs(recorded: RefsCase, { steps, leftWatches, leftTimers }: PlayedCase): string[] {
  const differences: string[] = [];
  let openWatches: readonly string[] = [];
  for (const [index, step] of recorded.steps.entries()) {
    const played = steps[index];
    if (played === undefined) {
      differences.push(`step ${index} was not played`);
      break;
    }
    const ours = outcomeOf(recorded, step, played, openWatches);
    openWatches = played.openWatches;
    const where = `step ${index} (${labelOf(step)})`;
    for (const key of new Set([...Object.keys(step.expect), ...Object.keys(ours)])) {
      const [expected, got] = [step.expect[key as keyof RefsOutcome], ours[key as keyof RefsOutcome]];
      if (isDeepStrictEqual(expected, got)) continue;
      differences.push(`${where} ${key}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`);
    }
    const put = step.op === 'server.put' ? step.object.resourceVersion : undefined;
    if (put !== played.putVersion) differences.push(`${where}: the object was put as version ${put}, here ${played.putVersion}`);
  }
  if (steps.length > recorded.steps.length) differences.push(`${steps.length} steps were played`);
  if (leftWatches.length > 0) differences.push(`the stopped manager left watches open: ${leftWatches.join(', ')}`);
  if (leftTimers > 0) differences.push(`the stopped manager left ${leftTimers} timers`);
  return differences;
}

/** What ours did, in the recording's words and shape. */
function outcomeOf(recorded: RefsCase, step: RefsStep, played: PlayedStep, watchesBefore: readonly string[]): RefsOutcome {
  const { actions, read, openWatches } = played;
  return {
    ...(actions.length > 0 && { actions }),
    ...(read?.object !== undefined && { object: objectOf(read.object) }),
    ...(read?.failure !== undefined && step.op === 'get' && { error: errorOf(recorded, step.name, read.failure) }),
    ...(read !== undefined && read.waitedMs > 0 && { waitedMs: read.waitedMs }),
    ...(!isDeepStrictEqual(openWatches, watchesBefore) && { openWatches }),
  };
}

/** An empty value is left out of a recording. */
function objectOf({ value, ...object }: RecordedObject): RecordedObject {
  return value === undefined || value === '' ? object : { ...object, value };
}

/** Our codes and the server's words, as upstream puts them. */
function errorOf(recorded: RefsCase, name: string, failure: unknown): NonNullable<RefsOutcome['error']> {
  const noun = recorded.resource === 'secrets' ? 'secret' : 'configmap';
  if (isStatusManagerError(failure, 'ERR_NOT_REGISTERED')) return { kind: 'notRegistered', message: failure.message };
  if (isStatusManagerError(failure, 'ERR_SYNC_TIMEOUT')) {
    return { kind: 'syncTimeout', message: `failed to sync ${noun} cache: timed out waiting for the condition` };
  }
  if (isStatusManagerError(failure, 'ERR_NOT_FOUND')) {
    return { kind: 'notFound', message: serverMessageOf(failure.cause) ?? `${noun} "${name}" not found` };
  }
  return { kind: 'api', message: serverMessageOf(failure) ?? String(failure) };
}

/** What the server said, without the request that an `ApiError` puts before it. */
function serverMessageOf(failure: unknown): string | undefined {
  return failure instanceof ApiError ? failure.message.replace(/^GET \S+: \d+ /, '') : undefined;
}

function labelOf(step: RefsStep): string {
  if ('namespace' in step) return `${step.op} ${step.namespace}/${step.name}`;
  if ('object' in step) return `${step.op} ${step.object.namespace}/${step.object.name}`;
  return 'name' in step ? `${step.op} ${step.name}` : step.op;
}

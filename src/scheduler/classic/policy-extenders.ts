// The conversion of LegacyExtender, pkg/scheduler/apis/config/v1/conversion.go, v1.22.17.
import { invalidOption } from '../../base/errors.ts';
import { type ExtenderOptions, extendersOption } from '../extenders/extender-options.ts';
import type { Policy, PolicyExtender } from './policy.ts';
import { listAt, policyObjectAt } from './policy-checks.ts';

const members = [
  ...['urlPrefix', 'filterVerb', 'preemptVerb', 'prioritizeVerb', 'weight', 'bindVerb', 'enableHttps', 'tlsConfig'],
  ...['httpTimeout', 'nodeCacheCapable', 'managedResources', 'ignorable'],
] as const satisfies readonly (keyof PolicyExtender)[];

/** The extenders of a policy file, as they stand in it. Throws ERR_INVALID_OPTION where one breaks a rule, or contradicts another one. */
export function policyExtenders(path: string, value: unknown): readonly PolicyExtender[] {
  const given = listAt(path, value, (at, item) => {
    const { httpTimeout, enableHttps } = policyObjectAt(at, item, members);
    const isTime = httpTimeout == null || (Number.isSafeInteger(httpTimeout) && Number(httpTimeout) >= 0);
    if (!isTime) throw invalidOption(`${at}.httpTimeout`, 'a whole number of nanoseconds from 0 up', httpTimeout);
    if (enableHttps != null && typeof enableHttps !== 'boolean')
      throw invalidOption(`${at}.enableHttps`, 'a boolean', enableHttps);
    return item as PolicyExtender;
  });
  extendersOption(path, given.map(inNewForm));
  return given;
}

/** In the form of kube-scheduler's configuration. */
export function extendersOfPolicy({ extenders = [] }: Policy): readonly ExtenderOptions[] {
  return extenders.map(inNewForm);
}

function inNewForm({ enableHttps, httpTimeout, ...others }: PolicyExtender): ExtenderOptions {
  return {
    ...others,
    ...(enableHttps != null && { enableHTTPS: enableHttps }),
    ...(httpTimeout != null && { httpTimeout: `${httpTimeout}ns` }),
  };
}

import type { ApiResource } from '../../client/resources/api-resource.ts';
import type { ObjectRules } from '../objects/object-rules.ts';
import { fieldsBeside } from '../objects/selectors.ts';
import { plainRules } from './plain-rules.ts';

export interface CustomTraits {
  /** Default true. */
  readonly hasStatus?: boolean;
}

/** A custom resource whose schema lets everything through. */
export function customRules({ group, version, kind }: ApiResource, { hasStatus = true }: CustomTraits = {}): ObjectRules {
  return plainRules({
    kind,
    apiVersion: `${group}/${version}`,
    fields: fieldsBeside({}),
    patchSchema: undefined,
    isCustom: true,
    bareFinalizers: true,
    updatesNeedVersion: true,
    countsGeneration: true,
    hasStatus,
    dropsNewStatus: hasStatus,
    statusAlone: true,
  });
}

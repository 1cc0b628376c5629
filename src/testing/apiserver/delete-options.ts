import { isJsonObject } from '../../api/json/json.ts';
import type { JsonObject } from '../../api/json/types.ts';
import { badRequest, invalidOptions, unsupportedValue } from '../objects/api-status.ts';
import type { DeleteRequest, PropagationPolicy } from '../objects/deletion.ts';
import { numberAt, objectAt, textAt, textsAt } from '../objects/json-fields.ts';
import type { ObjectRequest } from './object-request.ts';
import { integerIn } from './queries.ts';
import { expectJson, parseBody } from './request-body.ts';
import type { ApiVerb } from './route.ts';

/** The options in the body of a DELETE; undefined when it has none. Throws 400 for a body that is no DeleteOptions. */
function optionsInBody({ body, contentType }: ObjectRequest): JsonObject | undefined {
  if (body.length === 0) return undefined;
  expectJson(contentType);
  const options = parseBody(body);
  if (!isJsonObject(options)) throw badRequest('json: cannot unmarshal into Go value of type v1.DeleteOptions');
  const { gracePeriodSeconds: seconds } = options;
  if (seconds !== undefined && seconds !== null && !Number.isSafeInteger(seconds)) {
    const found = typeof seconds === 'number' ? `number ${seconds}` : typeof seconds;
    throw badRequest(`json: cannot unmarshal ${found} into Go struct field DeleteOptions.gracePeriodSeconds of type int64`);
  }
  return options;
}

const policies: readonly PropagationPolicy[] = ['Foreground', 'Background', 'Orphan'];

/** Undefined for none. Throws 422 for one that the server does not know. */
function policyOf(text: string): PropagationPolicy | undefined {
  if (text === '') return undefined;
  const policy = policies.find((each) => each === text);
  if (policy !== undefined) return policy;
  throw invalidOptions('DeleteOptions', [unsupportedValue('propagationPolicy', text, [...policies, 'nil'])]);
}

/** A DELETE with a body has its options there, and those in the query do not count. */
export function deleteOptions(request: ObjectRequest): DeleteRequest {
  const { query } = request.route;
  const options = optionsInBody(request);
  if (options === undefined) {
    const propagationPolicy = policyOf(query.get('propagationPolicy') ?? '');
    return { gracePeriodSeconds: integerIn(query, 'gracePeriodSeconds'), propagationPolicy };
  }
  const preconditions = objectAt(options, 'preconditions');
  return {
    gracePeriodSeconds: numberAt(options, 'gracePeriodSeconds'),
    propagationPolicy: policyOf(textAt(options, 'propagationPolicy')),
    preconditions: {
      uid: givenText(preconditions, 'uid'),
      resourceVersion: givenText(preconditions, 'resourceVersion'),
    },
  };
}

/** An empty precondition is one that no object meets. */
function givenText(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  return typeof value === 'string' ? value : undefined;
}

const optionKinds: Readonly<Partial<Record<ApiVerb, string>>> = {
  create: 'CreateOptions',
  update: 'UpdateOptions',
  patch: 'PatchOptions',
  delete: 'DeleteOptions',
  deletecollection: 'DeleteOptions',
};

/** True for a write with `dryRun=All`, which must change nothing. Throws 422 for another value. */
export function isDryRun(request: ObjectRequest): boolean {
  const { verb, query } = request.route;
  const kind = optionKinds[verb];
  if (kind === undefined) return false;
  const isDelete = verb === 'delete' || verb === 'deletecollection';
  const options = isDelete ? optionsInBody(request) : undefined;
  const stages = options === undefined ? query.getAll('dryRun') : textsAt(options, 'dryRun');
  if (stages.some((stage) => stage !== 'All')) throw invalidOptions(kind, [unsupportedValue('dryRun', stages, ['All'])]);
  return stages.length > 0;
}

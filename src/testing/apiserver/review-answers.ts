import { isJsonObject } from '../../api/json/json.ts';
import type { Json, JsonObject } from '../../api/json/types.ts';
import { callGuarded } from '../../base/guard.ts';
import type { ApiResource } from '../../client/resources/api-resource.ts';
import { apiStatus, badRequest, invalidObject, invalidValue, type StatusCause, StoreError } from '../objects/api-status.ts';
import { goTypeOf, objectAt, textsAt } from '../objects/selectors.ts';
import { type Answer, apiVersionOf, renderOne } from './answer.ts';
import { isDryRun, type ObjectRequest, objectOf } from './object-handlers.ts';
import type { AccessReviewSpec, Authorize, TokenUser } from './review-options.ts';

/** What a kube-apiserver takes tokens for that name no audience. */
const ownAudience = 'https://kubernetes.default.svc.cluster.local';

export interface ReviewAnswersOptions {
  /** Whose token each is. */
  readonly users: ReadonlyMap<string, TokenUser>;
  /** Undefined: all is allowed. */
  readonly authorize: Authorize | undefined;
}

/** Answers the POST of a review. Nothing is stored. */
export class ReviewAnswers {
  readonly #options: ReviewAnswersOptions;

  constructor(options: ReviewAnswersOptions) {
    this.#options = options;
  }

  /** `sender`: whose token the request itself carries. Throws a `StoreError` for a refusal. */
  answer(request: ObjectRequest, sender: TokenUser): Answer {
    const { resource } = request.route.store;
    const review = objectOf(request);
    isDryRun(request); // refuses what is no dry run
    const { kind } = resource;
    const { spec, status } =
      kind === 'TokenReview'
        ? this.#tokenReview(review)
        : this.#accessReview(review, resource, kind === 'SelfSubjectAccessReview' ? sender : undefined);
    const answer = { kind, apiVersion: apiVersionOf(resource), metadata: objectAt(review, 'metadata'), spec, status };
    return { code: 201, body: renderOne(answer, resource, request.rendering) };
  }

  #tokenReview(review: JsonObject) {
    const spec = objectAt(review, 'spec');
    const token = stringIn(spec, 'token', 'TokenReviewSpec.spec') ?? '';
    if (token === '') throw badRequest('token is required for TokenReview in authentication');
    const given = textsAt(spec, 'audiences');
    const audiences = given.length === 0 ? [ownAudience] : given.filter((audience) => audience === ownAudience);
    const user = audiences.length === 0 ? undefined : this.#options.users.get(token);
    const shown = { token, ...(given.length === 0 ? {} : { audiences: given }) };
    if (user === undefined) return { spec: shown, status: { user: {}, error: 'invalid bearer token' } };
    const { username, groups } = user;
    return { spec: shown, status: { authenticated: true, user: { username, groups: [...groups] }, audiences } };
  }

  #accessReview(review: JsonObject, resource: ApiResource, sender: TokenUser | undefined) {
    const spec = accessSpecOf(objectAt(review, 'spec'), resource.kind);
    const causes = [...attributeCauses(spec), ...(sender === undefined ? userCauses(spec) : [])];
    const metadata = objectAt(review, 'metadata');
    if (Object.keys(metadata).length > 0) causes.push(invalidValue('metadata', metadata, 'must be empty'));
    // a kube-apiserver names no kind here
    if (causes.length > 0) throw invalidObject('', causes, { group: resource.group, kind: '' });
    const { resourceAttributes, nonResourceAttributes } = spec;
    if (sender === undefined) return { spec, status: { allowed: this.#isAllowed(spec) } };
    const own = definedOf({ resourceAttributes, nonResourceAttributes });
    return { spec: own, status: { allowed: this.#isAllowed({ ...own, user: sender.username, groups: sender.groups }) } };
  }

  #isAllowed(spec: AccessReviewSpec): boolean {
    const { authorize } = this.#options;
    if (authorize === undefined) return true;
    let thrown: { readonly error: unknown } | undefined;
    const isAllowed: unknown = callGuarded(
      () => authorize(structuredClone(spec)),
      (error) => {
        thrown = { error };
      },
    );
    if (thrown !== undefined) throw internalError(`the option authorize failed: ${String(thrown.error)}`);
    if (typeof isAllowed !== 'boolean') throw internalError(`the option authorize returned a value of type ${typeof isAllowed}`);
    return isAllowed;
  }
}

function internalError(why: string): StoreError {
  return new StoreError(apiStatus(500, 'InternalError', `Internal error occurred: ${why}`));
}

const resourceMembers = ['namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'] as const;
const pathMembers = ['path', 'verb'] as const;

/** The spec as a kube-apiserver reads it: members that it does not know are left out. Throws 400 for one of another type. */
function accessSpecOf(spec: JsonObject, kind: string): AccessReviewSpec {
  const at = `${kind}Spec.spec`;
  const { groups, extra, resourceAttributes, nonResourceAttributes } = spec;
  return definedOf({
    resourceAttributes: membersOf(resourceAttributes, resourceMembers, `${at}.resourceAttributes`, 'v1.ResourceAttributes'),
    nonResourceAttributes: membersOf(
      nonResourceAttributes,
      pathMembers,
      `${at}.nonResourceAttributes`,
      'v1.NonResourceAttributes',
    ),
    user: stringIn(spec, 'user', at),
    groups: stringsOf(groups, `${at}.groups`),
    extra: extraOf(extra, `${at}.extra`),
    uid: stringIn(spec, 'uid', at),
  });
}

function extraOf(extra: Json | undefined, at: string): Record<string, readonly string[]> | undefined {
  if (isNothing(extra)) return undefined;
  if (!isJsonObject(extra)) throw otherType(extra, at, 'map[string]v1.ExtraValue');
  return Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, stringsOf(values, at) ?? []]));
}

function membersOf<K extends string>(
  value: Json | undefined,
  members: readonly K[],
  at: string,
  goType: string,
): { [key in K]?: string } | undefined {
  if (isNothing(value)) return undefined;
  if (!isJsonObject(value)) throw otherType(value, at, goType);
  const found: { [key in K]?: string } = {};
  for (const member of members) {
    const text = stringIn(value, member, at);
    if (text !== undefined && text !== '') found[member] = text;
  }
  return found;
}

function stringIn(object: JsonObject, member: string, at: string): string | undefined {
  const value = object[member];
  if (isNothing(value)) return undefined;
  if (typeof value !== 'string') throw otherType(value, `${at}.${member}`, 'string');
  return value === '' ? undefined : value;
}

function stringsOf(value: Json | undefined, at: string): readonly string[] | undefined {
  if (isNothing(value)) return undefined;
  if (!Array.isArray(value)) throw otherType(value, at, '[]string');
  const texts = value.map((one) => {
    if (typeof one !== 'string') throw otherType(one, at, 'string');
    return one;
  });
  return texts.length === 0 ? undefined : texts;
}

function isNothing(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

function otherType(value: Json, at: string, type: string): StoreError {
  const kind = at.slice(0, at.indexOf('Spec.'));
  const why = `json: cannot unmarshal ${goTypeOf(value)} into Go struct field ${at} of type ${type}`;
  return badRequest(`${kind} in version "v1" cannot be handled as a ${kind}: ${why}`);
}

/** The members that have a value. */
function definedOf(spec: { readonly [key in keyof AccessReviewSpec]?: AccessReviewSpec[key] | undefined }): AccessReviewSpec {
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined));
}

function attributeCauses({ resourceAttributes, nonResourceAttributes }: AccessReviewSpec): StatusCause[] {
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    const why = 'cannot be specified in combination with resourceAttributes';
    const { path: Path = '', verb: Verb = '' } = nonResourceAttributes;
    return [invalidValue('spec.nonResourceAttributes', { Path, Verb }, why)];
  }
  if (resourceAttributes !== undefined || nonResourceAttributes !== undefined) return [];
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [invalidValue('spec.resourceAttributes', null, why)];
}

function userCauses({ user, groups }: AccessReviewSpec): StatusCause[] {
  if (user !== undefined || groups !== undefined) return [];
  return [invalidValue('spec.user', '', 'at least one of user or group must be specified')];
}

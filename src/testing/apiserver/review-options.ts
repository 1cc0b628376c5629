import { invalidOption } from '../../base/errors.ts';
import { membersOption, optionOfType } from '../../base/options.ts';

/** Whose token it is, as a TokenReview says it. */
export interface ReviewedUser {
  /** The name, such as `system:serviceaccount:default:robot`. */
  readonly username: string;
  /** The groups. `system:authenticated` is added to them. Default: none. */
  readonly groups?: readonly string[];
}

/** Who wants to do what: the `spec` of a SubjectAccessReview, with the names of the API. What is empty is left out. */
export interface AccessReviewSpec {
  /** Who it is. */
  readonly user?: string;
  /** The groups that the user is in. */
  readonly groups?: readonly string[];
  /** The uid of the user. */
  readonly uid?: string;
  /** What else is known of the user. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  /** What the user wants to do with an object of the API. */
  readonly resourceAttributes?: ReviewedResource;
  /** What the user wants to do with a path outside of the resources. */
  readonly nonResourceAttributes?: ReviewedPath;
}

/** An access to an object: `get`, `nodes`, `proxy`, `node-1` for the log of a container. */
export interface ReviewedResource {
  /** `get`, `create`; `*` for all. */
  readonly verb?: string;
  /** The API group; left out for the core group. */
  readonly group?: string;
  /** The version of the group. */
  readonly version?: string;
  /** The plural name: `pods`. */
  readonly resource?: string;
  /** `status`, `proxy`; left out for the object itself. */
  readonly subresource?: string;
  /** The name of the object; left out for all. */
  readonly name?: string;
  /** The namespace; left out for all, and for a resource of the cluster. */
  readonly namespace?: string;
}

/** An access to a path. */
export interface ReviewedPath {
  /** `/healthz`. */
  readonly path?: string;
  /** `get`, `post`. */
  readonly verb?: string;
}

/** The options that reviews are answered by. */
export interface ReviewOptions {
  readonly token?: string;
  readonly users?: Readonly<Record<string, ReviewedUser>>;
  readonly authorize?: Authorize;
}

export type Authorize = (spec: AccessReviewSpec) => boolean;

/** A user with all groups. */
export interface TokenUser {
  readonly username: string;
  readonly groups: readonly string[];
}

const everyone = 'system:authenticated';

/** Whose token the kubeconfig of the server has. */
export const administrator: TokenUser = { username: 'admin', groups: ['system:masters', everyone] };

/** The users by their tokens. Throws ERR_INVALID_OPTION for what names no user. */
export function usersOf({ token, users = {} }: ReviewOptions): ReadonlyMap<string, TokenUser> {
  if (typeof users !== 'object' || users === null || Array.isArray(users)) throw invalidOption('users', 'an object', users);
  const byToken = new Map(token === undefined ? [] : [[token, administrator]]);
  for (const [key, user] of Object.entries(users)) {
    // the error must not tell the token
    if (!/^\S+$/.test(key)) throw invalidOption('users', 'an object whose keys are tokens: text without white space', users);
    byToken.set(key, userOf(user));
  }
  return byToken;
}

const name = 'users[TOKEN]';

function userOf(user: ReviewedUser): TokenUser {
  const { username, groups = [] } = membersOption(name, user, ['username', 'groups']);
  if (typeof username !== 'string' || username === '') throw invalidOption(`${name}.username`, 'a non-empty string', username);
  if (!Array.isArray(groups) || !groups.every((group) => typeof group === 'string' && group !== ''))
    throw invalidOption(`${name}.groups`, 'a list of non-empty strings', groups);
  return { username, groups: groups.includes(everyone) ? [...groups] : [...groups, everyone] };
}

/** Throws ERR_INVALID_OPTION for what is no function. */
export function authorizeOf({ authorize }: ReviewOptions): Authorize | undefined {
  return authorize === undefined ? undefined : optionOfType('authorize', authorize, 'function');
}

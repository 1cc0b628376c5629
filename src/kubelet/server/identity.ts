/** Who makes a request. */
export interface Identity {
  readonly username: string;
  /** Empty where there is none. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

const authenticatedGroup = 'system:authenticated';

/** Who makes a request without credentials, where that is allowed. */
export const anonymous: Identity = {
  ...{ username: 'system:anonymous', uid: '', extra: {} },
  groups: ['system:unauthenticated'],
};

/** The same with the group of everyone who has shown credentials. */
export function authenticated(identity: Identity): Identity {
  if (identity.groups.includes(authenticatedGroup)) return identity;
  return { ...identity, groups: [...identity.groups, authenticatedGroup] };
}

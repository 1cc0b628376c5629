import { apiResource } from '../../client/resources/api-resource.ts';

const authorization = { group: 'authorization.k8s.io', version: 'v1', namespaced: false } as const;

/** What a client asks by a POST alone. Nothing of it is stored. */
export const reviewKinds = [
  apiResource({ ...authorization, group: 'authentication.k8s.io', resource: 'tokenreviews', kind: 'TokenReview' }),
  apiResource({ ...authorization, resource: 'subjectaccessreviews', kind: 'SubjectAccessReview' }),
  apiResource({ ...authorization, resource: 'selfsubjectaccessreviews', kind: 'SelfSubjectAccessReview' }),
];

/** True for a resource of reviews. */
export function isReview({ group, resource }: { readonly group: string; readonly resource: string }): boolean {
  return reviewKinds.some((kind) => kind.group === group && kind.resource === resource);
}

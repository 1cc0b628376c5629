import type { PodInfo } from '../nodes/pod-info.ts';

/** So many claims are named. */
const mostClaims = 3;
const longestName = 253;

/** Names the claims of devices of a pod, as `NAMESPACE/NAME`, or by their template where they were not made yet. Undefined where it has none. */
export function claimsInWords({ pod: { metadata, spec, status } }: Pick<PodInfo, 'pod'>): string | undefined {
  const claims = spec?.resourceClaims ?? [];
  const shown = claims.slice(0, mostClaims).map(({ name, resourceClaimName, resourceClaimTemplateName }) => {
    const made = status?.resourceClaimStatuses?.find((one) => one.name === name);
    const claimName = resourceClaimName ?? made?.resourceClaimName;
    if (claimName != null) return `${metadata?.namespace ?? ''}/${claimName}`.slice(0, longestName);
    const template = `the template ${resourceClaimTemplateName ?? ''}`.slice(0, longestName);
    return made === undefined ? `one of ${template}, which is not made yet` : `none of ${template}, which needs none`;
  });
  if (shown.length === 0) return undefined;
  const others = claims.length - shown.length;
  return `Claims of devices of the pod: ${shown.join(', ')}${others > 0 ? ` and ${others} more` : ''}.`;
}

import type { Failing } from '../../base/failure-run.ts';
import { frozenProblem, type Problem } from '../../base/problem.ts';
import { apiProblem } from '../../client/resources/api-problem.ts';
import { helped } from '../problem-help.ts';
import { type CertificatePurpose, servingPurpose } from './certificate-purpose.ts';
import { type PendingRequest, RequestRefused } from './signing-request.ts';

/** A certificate that could not be had, and what it means for those who connect. */
interface Lack {
  readonly purpose: CertificatePurpose;
  /** The end of the certificate that there is, in milliseconds since the epoch; undefined: there is none that is valid. */
  readonly notAfter: number | undefined;
  readonly failing: Failing;
  /** In milliseconds since the epoch. */
  readonly retryAt: number | undefined;
}

/** What is lacking: the first certificate, or the one after it. */
function whatLacks(notAfter: number | undefined, { lacking, called }: CertificatePurpose): string {
  return notAfter === undefined ? lacking : `${called}, which ends at ${new Date(notAfter).toISOString()}, could not be renewed`;
}

/** A function that failed. */
export function givenProblem(failing: Failing, notAfter: number | undefined, retryAt: number | undefined): Problem {
  const { message, attempt, since } = failing;
  const times = { attempt, since, ...(retryAt !== undefined && { retryAt }) };
  return frozenProblem({
    ...helped('certificate-function'),
    message: `${whatLacks(notAfter, servingPurpose)}: ${message}`,
    ...times,
  });
}

/** Files of a server that runs, which cannot be read again. */
export function unreadProblem(
  { message, attempt, since }: Failing,
  notAfter: number | undefined,
  retryAt: number | undefined,
): Problem {
  const end = notAfter === undefined ? '' : `, whose certificate ends at ${new Date(notAfter).toISOString()}`;
  const text = `the certificates of the node's API could not be read again, and those of before stay${end}: ${message}`;
  return frozenProblem({
    ...helped('certificate-files'),
    message: text,
    attempt,
    since,
    ...(retryAt !== undefined && { retryAt }),
  });
}

/** A request that is neither signed nor refused yet. */
export function pendingProblem(request: PendingRequest, { purpose, notAfter }: Pick<Lack, 'purpose' | 'notAfter'>): Problem {
  const { name, since, isApproved, lastError } = request;
  const what = `${whatLacks(notAfter, purpose)}: the request ${name}`;
  if (lastError !== undefined) return apiProblem(`${what} could not be read`, lastError, { attempt: 1, since });
  const message = isApproved ? `${what} is approved, and nobody has signed it` : `${what} waits to be approved`;
  const kind = isApproved ? 'certificate-unsigned' : 'certificate-pending';
  return frozenProblem({ ...helped(kind, { OBJECT: name }), message, attempt: 0, since });
}

/** A node without an address that a certificate could be for. */
export function addressProblem(notAfter: number | undefined, since: number): Problem {
  const message = `${whatLacks(notAfter, servingPurpose)}: the node has no address to ask for one with`;
  return frozenProblem({ ...helped('certificate-addresses'), message, attempt: 0, since });
}

/** A request that failed, and when the next one is made. */
export function failedRequestProblem(error: unknown, { purpose, failing, notAfter, retryAt }: Lack): Problem {
  const { attempt, since } = failing;
  const times = { attempt, since, ...(retryAt !== undefined && { retryAt }) };
  const what = whatLacks(notAfter, purpose);
  if (!(error instanceof RequestRefused)) return apiProblem(what, error, times);
  return frozenProblem({ ...helped(error.kind, { OBJECT: error.requestName }), message: `${what}: ${error.message}`, ...times });
}

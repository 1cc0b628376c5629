import type { Problem } from '../../base/problem.ts';
import { apiProblem, type FailureInWords, failureInWords, refusalText } from '../../client/resources/api-problem.ts';
import { classifyApiError, type ErrorClass, readApiFailure } from '../../client/resources/error-class.ts';
import { PluginError } from '../framework/plugin-error.ts';
import type { RequestProblemKind } from '../problem-kinds.ts';
import type { FailureWords } from './last-attempts.ts';

/** What helps a scheduler more than what the kind of the failure says by itself. */
const helpOfKind: Readonly<Record<string, string>> = {
  conflict:
    'See who else binds this pod or changes it: let one scheduler alone serve its schedulerName, with a Lease where several run.',
  forbidden:
    'Give the user that the message names the right that it names; deploy/scheduler-rbac.yaml has all that a scheduler needs.',
};

function withOwnHelp<T extends Pick<Problem, 'kind' | 'help'>>(words: T): T {
  return Object.hasOwn(helpOfKind, words.kind) ? { ...words, help: helpOfKind[words.kind] } : words;
}

/** What a failed request to the apiserver means to a scheduler: a word, and what would help. */
export function failureOfRequest(error: unknown): FailureInWords {
  return withOwnHelp(failureInWords(error));
}

/** A request of the client that failed. `what`: what could not be done. */
export function wordsOfRequest(what: string, error: unknown): FailureWords {
  const message = refusalText(what, error);
  // an error of our own says what an answer has come to
  const answer = isApiFailure(error) || !(error instanceof Error) ? error : error.cause;
  if (!isApiFailure(answer))
    return { kind: 'client-failed', message, help: 'See why the client of the scheduler fails: its error is in the log.' };
  const { kind, help } = failureInWords(answer);
  return withOwnHelp({ kind: kind as RequestProblemKind, help, message });
}

/** False for an error that tells of no request: it is of the caller's own client. */
export function isApiFailure(error: unknown): boolean {
  const { status, reason } = readApiFailure(error);
  return status !== undefined || reason !== undefined || failureInWords(error).kind !== 'unavailable';
}

/** As {@link wordsOfRequest}, of a request to the apiserver that is sent again and again. */
export function requestProblem(what: string, error: unknown, times: Pick<Problem, 'since' | 'attempt' | 'retryAt'>): Problem {
  return Object.freeze(withOwnHelp(apiProblem(what, error, times)));
}

/** What a log line says of an error beside itself: the class of a request's failure, or the plugin that failed. */
export function errorFields(error: unknown): { readonly errorClass?: ErrorClass; readonly plugin?: string } {
  const cause = error instanceof PluginError ? error.cause : error;
  return {
    ...pluginField(error),
    ...(isApiFailure(cause) && { errorClass: classifyApiError(cause) }),
  };
}

/** Names the plugin that failed. */
export function pluginField(error: unknown): { readonly plugin?: string } {
  return error instanceof PluginError && error.plugin !== '' ? { plugin: error.plugin } : {};
}

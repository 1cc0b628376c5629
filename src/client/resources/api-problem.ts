import { membersOf } from '../../api/json/json.ts';
import type { LastFailure } from '../../base/concurrency/run-state.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { frozenProblem, type Problem } from '../../base/problem.ts';
import { proxyErrorName } from '../transport/http-proxy.ts';
import { classOf, type ErrorClass, type RetriedError, readApiFailure } from './error-class.ts';

/** What a request's failure means to a person: one word for it, and what would help. */
export interface FailureInWords {
  readonly kind: string;
  readonly help: string | undefined;
}

const ofClass: Readonly<Record<ErrorClass, FailureInWords>> = {
  gone: { kind: 'gone', help: 'Nothing is to be done where the object was meant to go.' },
  conflict: { kind: 'conflict', help: 'Look for another writer of the object: its managedFields name all of them.' },
  invalid: { kind: 'invalid', help: 'Correct what the message names: the apiserver refuses the object as it is.' },
  unauthorized: { kind: 'unauthorized', help: 'Renew the credentials: the apiserver does not take those of the kubeconfig.' },
  forbidden: {
    kind: 'forbidden',
    help: "Give this agent's user the right that is missing: the message names both. deploy/rbac.yaml has all that an agent needs.",
  },
  throttled: { kind: 'throttled', help: 'Give the agent a priority level of its own, as deploy/flow-schema.yaml does.' },
  unavailable: {
    kind: 'unavailable',
    help: 'See whether the apiserver is up, and whether what lies between lets requests through.',
  },
  timeout: {
    kind: 'timeout',
    help: 'See whether the apiserver is overloaded, or the network drops packets: it was reached, and gave no answer.',
  },
  'broken-answer': {
    kind: 'broken-answer',
    help: 'See who answers at this address: a proxy or another server may stand in front of the apiserver.',
  },
  aborted: { kind: 'aborted', help: undefined },
};

const deniedByWebhook = {
  kind: 'admission-denied',
  help: 'Ask who runs the admission webhook that the message names: it refuses this write, and no right is missing.',
};

const dns = { kind: 'dns', help: 'Correct the name of the server in the kubeconfig, or the DNS of this machine.' };
const wrongCA = {
  kind: 'wrong-ca',
  help: 'Put the CA of this server into the kubeconfig: its certificate is of another one. Or a proxy answers in its place.',
};
const lost = { kind: 'connection-lost', help: 'See whether the apiserver restarts, or a proxy or firewall ends connections.' };
const refused = { kind: 'connection-refused', help: 'Start the apiserver, or correct the address: nothing listens there.' };
const unreachable = { kind: 'unreachable', help: 'See whether this machine has a way to the address: no packet gets there.' };
const ownCertificate = {
  kind: 'client-certificate',
  help: 'Renew the client certificate of the kubeconfig: the server does not take it.',
};

const proxy = {
  kind: 'proxy',
  help: 'Correct proxy-url of the kubeconfig, or its credentials: the proxy made no connection to the apiserver.',
};

/** What the codes of Node.js, OpenSSL and undici mean. */
const ofCode: Readonly<Record<string, FailureInWords>> = {
  ENOTFOUND: dns,
  EAI_AGAIN: dns,
  ECONNREFUSED: refused,
  ECONNRESET: lost,
  EPIPE: lost,
  UND_ERR_SOCKET: lost,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  UND_ERR_CONNECT_TIMEOUT: unreachable,
  CERT_HAS_EXPIRED: { kind: 'certificate-expired', help: "Renew the server's certificate, or set this machine's clock." },
  CERT_NOT_YET_VALID: {
    kind: 'certificate-expired',
    help: "Set this machine's clock, or the server's: the certificate is not valid yet.",
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    kind: 'wrong-name',
    help: 'Name the server in the kubeconfig as its certificate does, or set tls-server-name.',
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: wrongCA,
  SELF_SIGNED_CERT_IN_CHAIN: wrongCA,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: wrongCA,
  UNABLE_TO_GET_ISSUER_CERT: wrongCA,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: wrongCA,
  CERT_SIGNATURE_FAILURE: wrongCA,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: ownCertificate,
  ERR_SSL_SSL_ALERT_CERTIFICATE_EXPIRED: ownCertificate,
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: ownCertificate,
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: ownCertificate,
  ERR_SSL_SSL_ALERT_BAD_CERTIFICATE: ownCertificate,
  ERR_INVALID_MANIFEST: { kind: 'invalid-manifest', help: 'Correct the manifest that the message names.' },
  EACCES: { kind: 'unreadable', help: 'Let the agent read the path that the message names.' },
};

/** What a client's own reasons mean, where no class of answers says it. */
const ofReason: Readonly<Record<string, FailureInWords>> = {
  NoNode: { kind: 'no-node', help: 'Create the Node object of this name, or let the agent do it with registerNode: true.' },
  NotOwner: {
    kind: 'not-owner',
    help: 'Nothing is to be done where another process has taken this over: it writes in the place of this one. Otherwise see why this one could not renew its Lease.',
  },
};

/** How many causes behind an error are looked at. */
const deepestCause = 5;

/** What an error of a request means: a word, and what would help. By the answer's class; where no answer came, by the code of the cause. Never throws. */
export function failureInWords(error: unknown): FailureInWords {
  const failure = readApiFailure(error);
  const errorClass = classOf(failure);
  if (errorClass === 'forbidden' && failure.message.includes('admission webhook')) return deniedByWebhook;
  if (errorClass !== 'unavailable') return ofClass[errorClass];
  const { reason = '' } = failure;
  if (failure.status === undefined && Object.hasOwn(ofReason, reason)) return ofReason[reason] as FailureInWords;
  return callGuarded(() => wordsOfCode(error), ignoreFailure) ?? ofClass.unavailable;
}

function wordsOfCode(error: unknown): FailureInWords | undefined {
  let one = error;
  for (let depth = 0; depth < deepestCause && typeof one === 'object' && one !== null; depth++) {
    const { code, cause, name } = membersOf(one);
    if (name === proxyErrorName) return proxy;
    if (typeof code === 'string' && Object.hasOwn(ofCode, code)) return ofCode[code];
    one = cause;
  }
  return undefined;
}

/** What a server has answered, without the request before it: `403 pods "web" is forbidden`. Where none has answered the address matters, and stays. */
export function answerOf(message: string): string {
  return message.replace(/^[A-Z]{3,7} \S{1,1000}: (?=\d{3}\b)/, '');
}

/** What could not be done, and after it the words of the one who refused. Never throws. */
export function refusalText(what: string, error: unknown): string {
  return `${what}: ${answerOf(readApiFailure(error).message)}`;
}

/** The problem that a failed request is. `what`: what could not be done, such as `the node could not be registered`. Never throws. */
export function apiProblem(what: string, error: unknown, times: Pick<Problem, 'since' | 'attempt' | 'retryAt'>): Problem {
  return frozenProblem({ ...failureInWords(error), message: refusalText(what, error), ...times });
}

/** The failure in words, as it can be shown and turned into JSON. Never throws. */
export function retriedError({ error, at, retryAt, since = at, attempt = 1 }: LastFailure): RetriedError {
  const failure = readApiFailure(error, at);
  return { errorClass: classOf(failure), message: failure.message, at, retryAt, since, attempt, ...failureInWords(error) };
}

import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import { requestProblem, wordsOfRequest } from '../../../../src/scheduler/reports/request-words.ts';

const forbidden = new ApiError({
  status: 403,
  reason: 'Forbidden',
  message: 'POST https://10.0.0.1:6443/apis/events.k8s.io/v1/namespaces/d/events: 403 events is forbidden',
});

describe('the words of a request that failed', () => {
  it('are those of the server, without the request before them, and the help is for a scheduler', () => {
    const problem = requestProblem('events cannot be written', forbidden, { attempt: 2, since: 1, retryAt: 5 });
    const message = 'events cannot be written: 403 events is forbidden';
    const help = expect.stringContaining('deploy/scheduler-rbac.yaml');
    expect(problem).toEqual({ kind: 'forbidden', message, attempt: 2, since: 1, retryAt: 5, help });
    expect(Object.isFrozen(problem)).toBe(true);
    expect(wordsOfRequest('events cannot be written', forbidden)).toEqual({ kind: 'forbidden', message, help });
  });

  it('name the address where no server has answered', () => {
    const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    const error = new ApiError({ reason: 'Network', message: 'GET https://10.0.0.1/api: connect ECONNREFUSED', cause });
    expect(wordsOfRequest('no list', error)).toMatchObject({
      kind: 'connection-refused',
      message: 'no list: GET https://10.0.0.1/api: connect ECONNREFUSED',
    });
  });
});

import type { IncomingMessage } from 'node:http';
import type { Json } from '../../api/json/types.ts';
import { apiStatus, badRequest, StoreError } from '../objects/api-status.ts';
import { type PatchType, patchTypes } from '../objects/object-patches.ts';

/** The longest body that a kube-apiserver accepts. */
const maxBodyBytes = 3 * 1024 * 1024;

/** The whole body, or undefined when it is too long. Rejects when the client goes away. */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    // Reads the rest without keeping it: the answer to a half-read request would be lost in a connection reset.
    if (length <= maxBodyBytes) chunks.push(chunk);
  }
  return length > maxBodyBytes ? undefined : Buffer.concat(chunks);
}

export function parseBody(body: Buffer): Json {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw badRequest(`couldn't get version/kind; json parse error: ${error instanceof Error ? error.message : ''}`);
  }
}

const accepted = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';

function mediaType(header: string | undefined): string {
  return (header ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** Throws 415 for the body of a POST, PUT or DELETE that is no JSON. */
export function expectJson(contentType: string | undefined): void {
  const type = mediaType(contentType);
  if (type !== '' && type !== 'application/json' && type !== '*/*') {
    const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
    throw new StoreError(apiStatus(415, 'UnsupportedMediaType', message));
  }
}

/** The format of a PATCH. Throws 415 for an unknown one. */
export function patchTypeOf(contentType: string | undefined): PatchType {
  const type = mediaType(contentType);
  const known = patchTypes.find((each) => each === type);
  if (known === undefined) throw new StoreError(apiStatus(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {}));
  return known;
}

/** What a request asks for. */
export interface RequestTarget {
  /** The parts of the path between slashes, decoded: `['pods', '']` for `/pods/`. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

const forbidden = /[/\\\p{Cc}]/u;

/**
 * Undefined for a target that could be read in more than one way: what is allowed and what is done must see the same path. That is
 * one that is no path, has an encoded slash, a control character, `.` or `..`, an empty part that is not the last, or broken encoding.
 */
export function parseTarget(target: string | undefined): RequestTarget | undefined {
  if (target === undefined || !target.startsWith('/')) return undefined;
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const segments: string[] = [];
  for (const part of path.slice(1).split('/')) {
    const decoded = decode(part);
    if (decoded === undefined || forbidden.test(decoded) || decoded === '.' || decoded === '..') return undefined;
    segments.push(decoded);
  }
  if (segments.slice(0, -1).includes('')) return undefined;
  return { segments, query: new URLSearchParams(mark < 0 ? '' : target.slice(mark + 1)) };
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

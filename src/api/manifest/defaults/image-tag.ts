// Behaviour of pkg/util/parsers ParseImageName over github.com/distribution/reference, v1.36.3.

/** No name of an image is longer; a longer text is none. */
const longestImage = 4096;
const longestPath = 255;
const domain =
  /^(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?$/;
const remote =
  /^([a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*)(?::(\w[\w.-]{0,127}))?(?:@([A-Za-z0-9]+(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$/;
const digestOf = /^(?:sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})$/;

/** Always for an image that may change under its name: with the tag `latest`, or without tag and digest. What is no image's name counts as one that stays. */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  return tagOf(image) === 'latest' ? 'Always' : 'IfNotPresent';
}

/** Undefined where the image has a digest and no tag, and for what is no image's name. */
function tagOf(image: string): string | undefined {
  if (image.length > longestImage || /^[a-f0-9]{64}$/.test(image)) return undefined;
  const slash = image.indexOf('/');
  const first = image.slice(0, Math.max(0, slash));
  const hasDomain = slash >= 0 && (/[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase());
  if (hasDomain && !domain.test(first)) return undefined;
  const match = remote.exec(hasDomain ? image.slice(slash + 1) : image);
  const [, path = '', tag, digest] = match ?? [];
  const isOfficial = !path.includes('/') && (!hasDomain || first === 'docker.io' || first === 'index.docker.io');
  if (match === null || path.length + (isOfficial ? 'library/'.length : 0) > longestPath) return undefined;
  if (digest !== undefined && !digestOf.test(digest)) return undefined;
  return tag ?? (digest === undefined ? 'latest' : undefined);
}

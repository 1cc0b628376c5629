// Behaviour of github.com/distribution/reference (ParseNormalizedNamed) and of pkg/util/parsers, v1.36.3.

import { longestImage, shownImage } from '../../api/pod/pod-containers.ts';
import { errorText } from '../../base/errors.ts';

export interface ImageName {
  /** With the registry, such as `docker.io/library/busybox`. */
  readonly repository: string;
  /** `latest` where the name has neither a tag nor a digest; else empty where it has none. */
  readonly tag: string;
  /** Such as `sha256:…`; empty where the name has none. */
  readonly digest: string;
}

const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?';
const host = `(?:${label}(?:\\.${label})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const part = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const digest = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}';
const pattern = new RegExp(`^(${host}/${part}(?:/${part})*)(?::(\\w[\\w.-]{0,127}))?(?:@(${digest}))?$`);
const digestLengths: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 };
const longestName = 255;

/** Throws an error in upstream's words for what is no image name. */
export function parseImageName(image: string): ImageName {
  try {
    return parse(image);
  } catch (error) {
    throw new Error(`couldn't parse image name ${imageText(image)}: ${errorText(error)}`);
  }
}

/** An image as messages name it: in quotation marks, and shortened where it is longer than any image name. */
export function imageText(image: string): string {
  return JSON.stringify(shownImage(image));
}

/** What the runtime may list an image under that is named so: the name itself, and in full with its tag or its digest. */
export function listedNames(image: string): readonly string[] {
  try {
    const { repository, tag, digest: ofImage } = parse(image);
    return [image, ...(tag === '' ? [] : [`${repository}:${tag}`]), ...(ofImage === '' ? [] : [`${repository}@${ofImage}`])];
  } catch {
    // the id of an image
    return [image];
  }
}

/** The name as it is pulled: with the tag `latest` where it has neither a tag nor a digest. Throws as {@link parseImageName}. */
export function withDefaultTag(image: string): string {
  const { tag, digest: ofImage } = parseImageName(image);
  return ofImage === '' && tag !== '' && !image.endsWith(`:${tag}`) ? `${image}:${tag}` : image;
}

/** The name as it is written, without its tag and its digest: what records of pulls are kept under. Throws as {@link parseImageName}. */
export function untagged(image: string): string {
  const { tag, digest: ofImage } = parseImageName(image);
  const name = ofImage !== '' && image.endsWith(`@${ofImage}`) ? image.slice(0, -ofImage.length - 1) : image;
  return tag !== '' && name.endsWith(`:${tag}`) ? name.slice(0, -tag.length - 1) : name;
}

function parse(image: string): ImageName {
  if (image.length > longestImage) throw new Error('invalid reference format');
  if (/^[a-f0-9]{64}$/.test(image)) {
    throw new Error(`invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`);
  }
  const { domain, rest } = splitDomain(image);
  const [path = ''] = rest.split(':', 1);
  const name = rest.includes(':') ? path : rest;
  if (name.toLowerCase() !== name) throw new Error(`invalid reference format: repository name (${name}) must be lowercase`);
  const found = pattern.exec(`${domain}/${rest}`);
  if (found === null) throw new Error('invalid reference format');
  const [, repository = '', tag = '', ofImage = ''] = found;
  if (repository.length > longestName) throw new Error('repository name must not be more than 255 characters');
  if (ofImage !== '') requireDigest(ofImage);
  return { repository, tag: tag === '' && ofImage === '' ? 'latest' : tag, digest: ofImage };
}

/** What stands before the first slash is a registry only where it cannot be a folder. */
function splitDomain(image: string): { readonly domain: string; readonly rest: string } {
  const slash = image.indexOf('/');
  const first = image.slice(0, Math.max(0, slash));
  const isDomain = slash >= 0 && (/[.:]/.test(first) || first === 'localhost' || first.toLowerCase() !== first);
  let domain = isDomain ? first : 'docker.io';
  let rest = isDomain ? image.slice(slash + 1) : image;
  if (domain === 'index.docker.io') domain = 'docker.io';
  if (domain === 'docker.io' && !rest.includes('/')) rest = `library/${rest}`;
  return { domain, rest };
}

function requireDigest(text: string): void {
  const [algorithm = '', hex = ''] = text.split(':');
  const length = Object.hasOwn(digestLengths, algorithm) ? digestLengths[algorithm] : undefined;
  if (length === undefined) throw new Error('unsupported digest algorithm');
  if (hex.length !== length) throw new Error('invalid checksum digest length');
  if (!/^[0-9a-f]+$/.test(hex)) throw new Error('invalid checksum digest format');
}

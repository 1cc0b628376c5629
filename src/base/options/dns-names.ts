const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** True for at most 63 lower case letters, digits and hyphens, with no hyphen at either end. */
export function isDnsLabel(text: string): boolean {
  return text.length <= 63 && dnsLabel.test(text);
}

/** True for labels between dots, at most 253 characters in all. As for the apiserver, each label may be of any length. */
export function isDnsSubdomain(text: string): boolean {
  return text.length <= 253 && text.split('.').every((part) => dnsLabel.test(part));
}

// The server's rules for names, in the server's words.

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const qualifiedPart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const partRule = `must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${qualifiedPart.source.slice(1, -1)}')`;

export const subdomainRule = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${subdomain.source.slice(1, -1)}')`;

export function isSubdomain(name: string): boolean {
  return name.length <= 253 && subdomain.test(name);
}

/** The rules that a name like `Ready` or `example.com/Ready` breaks; empty when it breaks none. */
export function qualifiedNameProblems(name: string): string[] {
  const parts = name.split('/');
  if (parts.length > 2)
    return [`a qualified name ${partRule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  const [prefix, part = ''] = parts.length === 2 ? parts : [undefined, name];
  const problems: string[] = [];
  if (prefix === '') problems.push('prefix part must be non-empty');
  else if (prefix !== undefined && !isSubdomain(prefix)) problems.push(`prefix part ${subdomainRule}`);
  if (part === '') problems.push('name part must be non-empty');
  else if (part.length > 63) problems.push('name part must be no more than 63 characters');
  if (!qualifiedPart.test(part)) problems.push(`name part ${partRule}`);
  return problems;
}

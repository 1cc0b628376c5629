/** The parts of TypeDoc's JSON that the rules look at. */
export interface Declaration {
  readonly name: string;
  readonly kind: number;
  readonly variant: string;
  readonly flags: { readonly isOptional?: boolean; readonly isInherited?: boolean; readonly isExternal?: boolean };
  readonly comment?: Comment;
  readonly children?: readonly Declaration[];
  readonly signatures?: readonly Declaration[];
  readonly getSignature?: Declaration;
  readonly type?: TypeOf;
}

interface TypeOf {
  readonly type: string;
  readonly name?: string;
  readonly types?: readonly TypeOf[];
  readonly declaration?: Declaration;
}

interface Comment {
  readonly summary?: readonly { readonly text: string }[];
  readonly blockTags?: readonly { readonly tag: string; readonly content: readonly { readonly text: string }[] }[];
}

export interface PublicName {
  /** `StatusManagerOptions.concurrency` */
  readonly path: string;
  readonly declaration: Declaration;
  /** What is written above it: the comment of the declaration, its signatures and its getter. */
  readonly text: string;
  readonly example: string;
}

/** TypeDoc's numbers for kinds of declarations. */
const kinds = { variable: 32, function: 64, class: 128, constructor: 512, property: 1024 } as const;

function written(declaration: Declaration): { text: string; example: string } {
  const all = [declaration, ...(declaration.signatures ?? []), declaration.getSignature, declaration.type?.declaration].flatMap(
    (one) => one?.comment ?? [],
  );
  const textOf = (parts: readonly { readonly text: string }[] = []): string => parts.map(({ text }) => text).join('');
  const tags = all.flatMap(({ blockTags = [] }) => blockTags);
  return {
    text: [...all.map(({ summary }) => textOf(summary)), ...tags.map(({ tag, content }) => `${tag} ${textOf(content)}`)]
      .join('\n')
      .trim(),
    example: tags
      .filter(({ tag }) => tag === '@example')
      .map(({ content }) => textOf(content))
      .join('\n'),
  };
}

function namesBelow(parent: string, declaration: Declaration): PublicName[] {
  if (declaration.variant === 'reference' || declaration.flags.isInherited || declaration.flags.isExternal) return [];
  const path = parent === '' ? declaration.name : `${parent}.${declaration.name}`;
  const members = [...(declaration.children ?? []), ...(declaration.type?.declaration?.children ?? [])];
  return [{ path, declaration, ...written(declaration) }, ...members.flatMap((member) => namesBelow(path, member))];
}

/** Every name that an entry point exports, and every member of each. */
export function namesOf(entryPoint: Declaration): PublicName[] {
  return (entryPoint.children ?? []).flatMap((declaration) => namesBelow('', declaration));
}

/** True where the class or the options around it say all there is to say. */
function needsNoWords({ declaration, path }: PublicName): boolean {
  return declaration.kind === kinds.constructor || /^errorCodes\./.test(path);
}

export function undocumented(names: readonly PublicName[]): string[] {
  return names.filter((name) => name.text === '' && !needsNoWords(name)).map(({ path }) => path);
}

export function withoutExample(names: readonly PublicName[]): string[] {
  return names
    .filter(({ declaration: { kind }, path }) => [kinds.class, kinds.function].some((one) => one === kind) && !path.includes('.'))
    .filter(({ example }) => !/^```ts\b/m.test(example))
    .map(({ path }) => path);
}

const isNumber = (type: TypeOf | undefined): boolean =>
  type?.name === 'number' || (type?.types ?? []).some((one) => one.name === 'number');

const unit =
  /\b(?:milliseconds|seconds|minutes|bytes|characters|pods?|nodes|shards|requests?|hints|objects|files|changes|updates|connections|times|entries|port|percent|calls|probes|events|sources|streams|status code|containers|messages)\b/i;

/** Numbers among the options that say neither by their name nor by their comment what they count. */
export function withoutUnit(names: readonly PublicName[]): string[] {
  return numericOptions(names)
    .filter(({ path, text }) => !/(?:Ms|Seconds|Bytes)$/.test(path) && !unit.test(text))
    .map(({ path }) => path);
}

/** Numbers among the options that may be left out, and do not say what counts then. */
export function withoutDefault(names: readonly PublicName[]): string[] {
  return numericOptions(names)
    .filter(
      ({ declaration, text }) => declaration.flags.isOptional === true && !/\bdefault\b|\bwithout\b|\bno limit\b/i.test(text),
    )
    .map(({ path }) => path);
}

function numericOptions(names: readonly PublicName[]): PublicName[] {
  return names.filter(({ path, declaration }) => /Options\.\w+$/.test(path) && isNumber(declaration.type));
}

/** Code names of errors in the text that do not exist. */
export function unknownCodes(names: readonly PublicName[], codes: readonly string[]): string[] {
  return names.flatMap(({ path, text }) =>
    (text.match(/\bERR_[A-Z_]+\b/g) ?? []).filter((code) => !codes.includes(code)).map((code) => `${path}: ${code}`),
  );
}

import { join, relative, sep } from 'node:path';
import { type CallExpression, type Node, type SourceFile as ParsedFile, SyntaxKind } from 'typescript/unstable/ast';
import {
  isCallExpression,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isSpreadAssignment,
  isStringLiteral,
} from 'typescript/unstable/ast/is';
import { API, type Checker, type Type, TypeFlags, type UnionType } from 'typescript/unstable/sync';
import { root } from './source-tree.ts';

/** One call of a logger, as the compiler sees it. */
export interface LogLine {
  /** `src/status/sync/sync-pod.ts:12` */
  readonly at: string;
  readonly path: string;
  /** The names of its fields, once for each type that the fields can have. */
  readonly fields: readonly (readonly string[])[];
  /** True where it may have fields that the compiler does not know. */
  readonly hidesFields: boolean;
  /** The message; undefined where it is no constant. */
  readonly message: string | undefined;
}

const levels: readonly string[] = ['debug', 'info', 'warn', 'error'];

/**
 * The log lines of every file of src, from the compiler's own tree and types: a field counts wherever it was put in. `instead` gives
 * files, by their path in the repository, another text.
 */
export function readLogLines(instead: Readonly<Record<string, string>> = {}): LogLine[] {
  const readFile = (name: string): string | undefined => instead[pathOf(name)];
  const api = new API({ cwd: root, fs: { readFile } });
  try {
    const snapshot = api.updateSnapshot({ openProjects: [join(root, 'tools/tsconfig.build.json')] });
    const [project] = snapshot.getProjects();
    if (project === undefined) throw new Error('the compiler has no project');
    const { program, checker } = project;
    const files = program.getSourceFileNames().filter((name) => pathOf(name).startsWith('src/'));
    return files.flatMap((name) => {
      const file = program.getSourceFile(name);
      return file === undefined ? [] : linesOf(file, pathOf(name), checker);
    });
  } finally {
    api.close();
  }
}

function pathOf(fileName: string): string {
  return relative(root, fileName).split(sep).join('/');
}

function linesOf(file: ParsedFile, path: string, checker: Checker): LogLine[] {
  const calls: CallExpression[] = [];
  const visit = (node: Node): void => {
    if (isCallExpression(node) && isOfLevel(node)) calls.push(node);
    node.forEachChild(visit);
  };
  visit(file);
  return calls
    .filter((call) => isLogger(receiverOf(call), checker))
    .map((call) => {
      const [fields, message] = call.arguments;
      const at = `${path}:${file.text.slice(0, call.getStart(file)).split('\n').length}`;
      const isWhole = call.arguments.length === 2;
      return {
        ...{ at, path },
        fields: fieldsOf(fields, checker),
        hidesFields: !isWhole || hidesFields(fields, checker),
        message: isWhole && message !== undefined && isStringLiteral(message) ? message.text : undefined,
      };
    });
}

/** `logger.warn(…)`, and `logger[level](…)`, of which nobody knows the level. */
function isOfLevel({ expression }: CallExpression): boolean {
  if (isPropertyAccessExpression(expression)) return levels.includes(expression.name.text);
  return expression.kind === SyntaxKind.ElementAccessExpression;
}

function receiverOf({ expression }: CallExpression): Node {
  return (expression as unknown as { readonly expression: Node }).expression;
}

function isLogger(receiver: Node, checker: Checker): boolean {
  const given = checker.getTypeAtLocation(receiver);
  const type = given && checker.getNonNullableType(given);
  if (type === undefined) return false;
  const names = new Set(checker.getPropertiesOfType(type).map(({ name }) => name));
  // the console has the four methods, too
  return levels.every((level) => names.has(level)) && !names.has('log');
}

function fieldsOf(argument: Node | undefined, checker: Checker): string[][] {
  const type = argument && checker.getTypeAtLocation(argument);
  return type === undefined ? [] : variantsOf(type).map((one) => checker.getPropertiesOfType(one).map(({ name }) => name));
}

/** True where the fields, or an object that a literal takes in, may have members of which the compiler knows nothing. */
function hidesFields(argument: Node | undefined, checker: Checker): boolean {
  if (argument === undefined) return true;
  const isLiteral = isObjectLiteralExpression(argument);
  const parts = isLiteral ? argument.properties.filter(isSpreadAssignment).map(({ expression }) => expression) : [argument];
  return parts.some((part) => {
    const type = checker.getTypeAtLocation(part);
    return type === undefined || variantsOf(type).some((one) => isOpen(one, checker));
  });
}

function isOpen(type: Type, checker: Checker): boolean {
  if ((type.flags & (TypeFlags.Any | TypeFlags.Unknown | TypeFlags.NonPrimitive)) !== 0) return true;
  const isObject = (type.flags & (TypeFlags.Object | TypeFlags.Intersection)) !== 0;
  return isObject && checker.getPropertiesOfType(type).length === 0;
}

function variantsOf(type: Type): readonly Type[] {
  return (type.flags & TypeFlags.Union) === 0 ? [type] : (type as UnionType).getTypes();
}

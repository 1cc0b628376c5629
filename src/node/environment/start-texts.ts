import { expanded } from '../../api/pod/expansion.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { type Environment, textOf } from './environment.ts';
import { StartSize, textLimit, variableBytes, variableText } from './start-limits.ts';

/** What a container's first process is started with. */
export interface StartTexts {
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly envs: readonly KeyValue[];
}

/**
 * What a container's first process gets. Throws a `ContainerConfigError` for more than Linux could start a process with, and
 * `LargeStart` for what is large while it is not its turn.
 */
export function startTexts(container: Container, environment: Environment, isTurn: boolean): StartTexts {
  const size = new StartSize(container.name, isTurn);
  const envs = Array.from(environment, ([key, value]): KeyValue => {
    const { mostBytes, tooLong } = textLimit(() => variableText(key), container.name);
    if (variableBytes(key, value) > mostBytes) throw tooLong();
    size.addVariable(key, value);
    return { key, value };
  });
  const expand = (texts: readonly string[] | undefined, what: string) =>
    (texts ?? []).map((text, index) => {
      const limit = textLimit(() => `${what} ${index + 1}`, container.name);
      const result = expanded(text, (name) => textOf(environment, name), limit);
      size.add(Buffer.byteLength(result));
      return result;
    });
  return { command: expand(container.command, 'part of the command'), args: expand(container.args, 'argument'), envs };
}

/** An environment variable. Bytes are given to the container as they are. */
export interface KeyValue {
  /** The variable's name. */
  readonly key: string;
  /** The variable's value. */
  readonly value: string | Uint8Array;
}

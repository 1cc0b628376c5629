import { expanded } from '../../api/pod/expansion.ts';
import type { Container } from '../../api/pod/pod-containers.ts';

/** The texts of one probe's command that were made from variables, in bytes: so many as Linux takes for one argument. */
const mostBytes = 131_072;

/**
 * The command with each `$(NAME)` replaced by the value that the container's spec gives to that variable; `$$` is a dollar
 * sign, and a reference to another variable stays as it is. A variable whose value comes from elsewhere is empty. Throws an
 * `Error` where the parts in which something is replaced come to more than 131,072 bytes, before they are made.
 * Behaviour of pkg/kubelet/container ExpandContainerCommandOnlyStatic, v1.36.3.
 */
export function withStaticVariables(command: readonly string[], env: Container['env']): string[] {
  if (!command.some((part) => part.includes('$'))) return [...command];
  const values = new Map((env ?? []).map(({ name, value }) => [name, value ?? '']));
  let left = mostBytes;
  return command.map((part) => {
    if (!part.includes('$')) return part;
    const text = expanded(part, (name) => values.get(name), { mostBytes: left, tooLong });
    left -= Buffer.byteLength(text);
    return text;
  });
}

function tooLong(): Error {
  return new Error(`the command of the probe has more than ${mostBytes} bytes once its variables are replaced`);
}

import type { Container } from '../conditions/restart-policy.ts';

/**
 * The command with each `$(NAME)` replaced by the value that the container's spec gives to that variable; `$$` is a dollar
 * sign, and a reference to another variable stays as it is. A variable whose value comes from elsewhere is empty.
 * Behaviour of pkg/kubelet/container ExpandContainerCommandOnlyStatic, v1.36.3.
 */
export function withStaticVariables(command: readonly string[], env: Container['env']): string[] {
  const values = new Map((env ?? []).map(({ name, value }) => [name, value ?? '']));
  return command.map((part) =>
    part.replace(/\$(?:\$|\(([^)]*)\))/g, (reference, name: string | undefined) =>
      name === undefined ? '$' : (values.get(name) ?? reference),
    ),
  );
}

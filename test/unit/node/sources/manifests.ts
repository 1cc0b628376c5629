/** A manifest of a pod, as JSON. */
export function manifestOf(name: string, image = 'app:1'): string {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers: [{ name: 'app', image }] } };
  return JSON.stringify(pod);
}

/** Manifests of several pods as one list. */
export function manifestList(...names: string[]): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: names.map((name) => JSON.parse(manifestOf(name))) });
}

/** The same as YAML. */
export function yamlOf(name: string): string {
  return `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\nspec:\n  containers:\n  - name: app\n    image: app:1\n`;
}

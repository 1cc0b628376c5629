import { type MetricDefinition, metricDefinitions } from '../../../src/index.ts';

const selector = /\b((?:kubelet|prober|pod_status_manager)_[a-z_]+)\b(?:\{([^}]*)\})?/g;
const suffix = /_(?:bucket|sum|count)$/;

/** What an expression names that `metricDefinitions` does not have: metrics, labels and values of labels. */
export function undefinedIn(expr: string): string[] {
  return Array.from(expr.matchAll(selector)).flatMap(([, name = '', matchers = '']) => {
    const definition = definitionOf(name);
    return definition === undefined ? [name] : undefinedMatchers(definition, matchers);
  });
}

function definitionOf(name: string): MetricDefinition | undefined {
  const definitions: Readonly<Record<string, MetricDefinition>> = metricDefinitions;
  const definition = definitions[name.replace(suffix, '')] ?? definitions[name];
  // only a histogram has series with such an end
  return definition === undefined || (definition.name !== name && definition.type !== 'histogram') ? undefined : definition;
}

/** `job` and `instance` come with the scrape. */
const ofScrape = ['job', 'instance'];

function undefinedMatchers({ name, labels }: MetricDefinition, matchers: string): string[] {
  return Array.from(matchers.matchAll(/([a-z_]+)(?:=~|!~|!=|=)"([^"]*)"/g)).flatMap(([, label = '', value = '']) => {
    if (ofScrape.includes(label)) return [];
    const known = labels[label];
    if (known === undefined) return [`${name}{${label}}`];
    const unknown = value.split('|').filter((one) => known.values !== undefined && !known.values.includes(one));
    return unknown.map((one) => `${name}{${label}="${one}"}`);
  });
}

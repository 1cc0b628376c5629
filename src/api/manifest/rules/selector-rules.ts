// Behaviour of k8s.io/apimachinery/pkg/apis/meta/v1/validation ValidateLabelSelector, v0.36.3.
import { check } from '../text/invalid-manifest.ts';
import { checkLabels, checkLabelValue, checkOneOf, checkQualifiedName } from './text-rules.ts';

interface LabelSelector {
  readonly matchLabels?: { readonly [key: string]: string };
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[];
}

export function checkSelector(path: string, selector: LabelSelector | undefined): void {
  checkLabels(`${path}.matchLabels`, selector?.matchLabels);
  for (const [index, { key, operator, values = [] }] of (selector?.matchExpressions ?? []).entries()) {
    const place = `${path}.matchExpressions[${index}]`;
    checkOneOf(`${place}.operator`, operator, ['In', 'NotIn', 'Exists', 'DoesNotExist']);
    const needsValues = operator === 'In' || operator === 'NotIn';
    check(values.length > 0 === needsValues, `${place}.values`, `as many as ${operator} needs`, values.length);
    checkQualifiedName(`${place}.key`, key);
    for (const [at, value] of values.entries()) checkLabelValue(`${place}.values[${at}]`, value);
  }
}

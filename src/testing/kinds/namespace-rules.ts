import type { JsonObject } from '../../api/json/types.ts';
import { labelNameProblem } from '../objects/api-names.ts';
import { objectAt, textAt } from '../objects/json-fields.ts';
import type { ObjectRules } from '../objects/object-rules.ts';
import { clusterFieldsBeside } from '../objects/selectors.ts';
import { plainRules } from './plain-rules.ts';

const finalizers = { finalizers: ['kubernetes'] };

function withNameLabel(namespace: JsonObject): JsonObject {
  const metadata = objectAt(namespace, 'metadata');
  const labels = { ...objectAt(metadata, 'labels'), 'kubernetes.io/metadata.name': textAt(metadata, 'name') };
  return { ...namespace, metadata: { ...metadata, labels } };
}

const plain = plainRules({
  kind: 'Namespace',
  apiVersion: 'v1',
  nameProblem: labelNameProblem,
  fields: clusterFieldsBeside({
    name: (namespace) => textAt(objectAt(namespace, 'metadata'), 'name'),
    'status.phase': (namespace) => textAt(objectAt(namespace, 'status'), 'phase'),
  }),
  blank: { spec: {}, status: {} },
  returnsDeleted: true,
  hasStatus: true,
  carryOver: (namespace, old) => ({ ...namespace, spec: old.spec ?? null }),
  shapeNew: (namespace) => withNameLabel({ ...namespace, spec: finalizers, status: { phase: 'Active' } }),
});

/** A namespace keeps the label with its name, whatever a client writes. */
export const namespaceRules: ObjectRules = {
  ...plain,
  update: (given, old, options) => {
    const { object, causes } = plain.update(given, old, options);
    return { object: withNameLabel(object), causes };
  },
};

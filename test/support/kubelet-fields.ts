// The tables of docs/kubelet-configuration.md. `node test/support/kubelet-fields.ts` writes them anew.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Field, fields } from '../../examples/kubelet/config-fields.ts';
import { configFlags } from '../../examples/kubelet/config-flags.ts';
import { root } from '../structure/source-tree.ts';

const page = join(root, 'docs/kubelet-configuration.md');

/** A field of KubeletConfiguration as Kubernetes has it. */
export interface RecordedField {
  readonly path: string;
  readonly type: string;
  readonly pointer?: boolean;
  readonly default?: unknown;
}

export interface RecordedSettings {
  readonly fields: readonly RecordedField[];
  readonly flags: readonly { readonly name: string; readonly type: string; readonly field?: string }[];
}

/** What `test/peers/node-kit/go/k8s/kubelet-settings` has written of Kubernetes v1.36.3. */
export function recordedSettings(): RecordedSettings {
  return JSON.parse(readFileSync(join(root, 'test/unit/examples/kubelet-settings.json'), 'utf8')) as RecordedSettings;
}

/** The page as it is, and as the tables of the code make it. */
export function fieldsPage(): { readonly written: string; readonly made: string } {
  const written = readFileSync(page, 'utf8');
  const made = Object.entries(tables()).reduce(
    (text, [name, table]) =>
      text.replace(
        new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- end -->)`),
        (_all, start: string, end: string) => `${start}\n${table}\n\n${end}`,
      ),
    written,
  );
  return { written, made };
}

function tables(): Readonly<Record<string, string>> {
  const named = Object.entries(fields).sort(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  const rowsOf = (kind: Field['kind'], cells: (name: string, field: Field) => string): string =>
    named
      .filter(([, field]) => field.kind === kind)
      .map(([name, field]) => `| \`${name}\` | ${cells(name, field)} |`)
      .join('\n');
  const defaults = new Map(recordedSettings().fields.map((each) => [each.path, each.default]));
  const defaultOf = (name: string): string => {
    const value = defaults.get(name);
    return value === undefined || value === null ? '' : `\`${JSON.stringify(value).replaceAll('"', '')}\``;
  };
  const optionOf = ({ option }: Field): string => (option === undefined ? '' : `\`${option}\``);
  const flagOf = (name: string): string => {
    const flags = [...configFlags].filter(([, { field }]) => field === name).map(([flag]) => `\`--${flag}\``);
    return flags.join(' ');
  };
  return {
    works: `| field | default of the kubelet | flag | option of \`NodeAgent\` |\n|---|---|---|---|\n${rowsOf('works', (name, field) => `${defaultOf(name)} | ${flagOf(name)} | ${optionOf(field)}`)}`,
    fixed: `| field | taken is only |\n|---|---|\n${rowsOf('fixed', (_name, { why = '' }) => why)}`,
    without: `| field | why |\n|---|---|\n${rowsOf('without effect', (_name, { why = '' }) => why)}`,
  };
}

if (process.argv[1] === import.meta.filename) writeFileSync(page, fieldsPage().made);

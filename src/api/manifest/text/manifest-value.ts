/** A number as it was written, or as Go writes it in JSON: no digit is lost. */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value of a manifest. Objects are maps, so that no key means anything to JavaScript. */
export type ManifestValue = null | boolean | string | NumberText | ManifestValue[] | ManifestObject;
export type ManifestObject = Map<string, ManifestValue>;

/** How an error shows the value. */
export function shown(value: ManifestValue): unknown {
  if (value instanceof NumberText) return Number(value.text);
  return value instanceof Map ? {} : value;
}

/** `work`, done once for each object for as long as the object is about. Objects do not change. */
export function rememberedByObject<Given extends object, Value>(work: (given: Given) => Value): (given: Given) => Value {
  const known = new WeakMap<Given, Value>();
  return (given) => {
    const before = known.get(given);
    if (before !== undefined) return before;
    const value = work(given);
    known.set(given, value);
    return value;
  };
}

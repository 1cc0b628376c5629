/** The promises of the reflector, the object managers and the mirror pods. A check names the one that it finds broken. */
export type PartsRule =
  | 'nothing older is given out after something newer'
  | 'what is given out is what the server had'
  | 'nothing is given out that no pod names'
  | 'what a pod names can be read'
  | 'a read settles'
  | 'no watch is open for what no pod names'
  | 'what is read has one watch, and an immutable object none'
  | 'each change is told once, after the one before'
  | 'every delete names its pod'
  | 'no other pod is touched'
  | 'everything is brought up to date'
  | 'no value is in a log or an error'
  | 'nothing unforeseen happens'
  | 'nothing is left after stop';

/** Told of each broken promise, with what shows it. */
export type PartsFound = (rule: PartsRule, detail: string) => void;

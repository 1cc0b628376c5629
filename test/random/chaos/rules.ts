/** The promises of the manager. A check names the one that it finds broken. */
export type Rule =
  | 'nothing older lands after something newer'
  | 'what lands is what the agent said'
  | 'no other pod is touched'
  | 'no other writer’s data is touched'
  | 'every write names its pod'
  | 'no terminal phase while containers could run'
  | 'only what has ended is deleted'
  | 'a patch never ends a pod'
  | 'one write of a pod at a time'
  | 'requests in flight are bounded'
  | 'everything is brought up to date'
  | 'what is over is deleted'
  | 'a status is dropped only when its pod is gone'
  | 'the status of a pod that is gone goes by itself'
  | 'illegal transitions are refused'
  | 'flush settles'
  | 'flush resolves when everything is there'
  | 'stop ends'
  | 'nothing is left after stop'
  | 'the process stays small'
  | 'a quiet pod costs nothing'
  | 'a fight over a pod costs a repair a sync period'
  | 'nothing unforeseen happens'
  | 'the simulated watch works';

/** Told of each broken promise, with what shows it. */
export type Found = (rule: Rule, detail: string) => void;

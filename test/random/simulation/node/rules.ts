/** The promises of a whole node. A check names the one that it finds broken. */
export type NodeRule =
  | 'no pod runs twice'
  | 'none is killed without cause'
  | 'none is killed before its grace is over'
  | 'a grace period only shrinks'
  | 'none outlives its grace'
  | 'nothing of an ended pod starts'
  | 'every end that is told has happened'
  | 'what is told to have ended runs no more'
  | 'an ended pod stays ended'
  | 'a restart count never goes back'
  | 'a pod leaves the server when nothing of it runs'
  | 'nothing is probed that has ended'
  | 'what the server says is what runs'
  | 'no more timers than there is work'
  | 'nothing unforeseen happens'
  | 'nothing is called after stop'
  | 'nothing is left after stop';

/** Told of each broken promise, with what shows it. */
export type NodeFound = (rule: NodeRule, detail: string) => void;

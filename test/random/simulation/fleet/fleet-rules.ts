/** The promises of a fleet's ownership. A check names the one that it finds broken. */
export type FleetRule =
  | 'no two members may write for one shard at one moment'
  | 'a write is sent only by the member that the Lease names'
  | 'a write that arrives in time is of the member that the Lease names'
  | 'no status goes back'
  | 'no status is lost'
  | 'no pod is created twice'
  | 'what a member gains is its own on the server'
  | 'a shard is given up only when nothing of it runs'
  | 'what is lost runs no more'
  | 'readiness does not flap'
  | 'a host is told in order'
  | 'the number of shards is that of the fleet'
  | 'a shard is owned again in time'
  | 'a member that comes or goes moves only its share'
  | 'in calm weather no shard moves'
  | 'every member ends with its share'
  | 'loads are bounded'
  | 'the server is asked no more than it takes'
  | 'nothing is left after stop'
  | 'nothing unforeseen happens';

/** Told of each broken promise, with what shows it. */
export type FleetFound = (rule: FleetRule, detail: string) => void;

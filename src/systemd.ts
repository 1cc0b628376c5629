/**
 * systemd over D-Bus, for an agent whose container runtime has the cgroup driver `systemd`. It needs the optional peer dependency
 * `dbus-native`, which no other entry point loads.
 *
 * @module pod-status-manager/systemd
 */
import './base/node-version.ts';

export { openSystemBus, type SystemSockets } from './kubelet/systemd/open-system-bus.ts';
export type {
  BusCall,
  BusConnection,
  BusSignal,
  OpenSystemBus,
  SystemBusLimits,
} from './kubelet/systemd/system-bus.ts';

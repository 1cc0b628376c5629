import { expect, it } from 'vitest';
import { checkpointText, readCheckpoint } from '../../../../src/kubelet/devices/device-checkpoint.ts';

/** What pkg/kubelet/cm/devicemanager/checkpoint of Kubernetes v1.36.3 has written of data that were made by hand. */
const kubeletFiles = [
  '{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{}},"Checksum":3467439661}',
  '{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{"a.example/ü":[],"example.com/resource":["Dev-2","Dev-1"]}},"Checksum":1348546213}',
  '{"Data":{"PodDeviceEntries":[{"PodUID":"uid-1","ContainerName":"app","ResourceName":"example.com/resource","DeviceIDs":{"-1":["Dev-1"]},"AllocResp":"CgPIAP8="},{"PodUID":"uid-2","ContainerName":"app","ResourceName":"example.com/resource","DeviceIDs":{"0":null,"10":["Dev-2","Dev-3"],"2":["Dev-2"]},"AllocResp":""}],"RegisteredDevices":{"example.com/resource":["Dev-1","Dev-2"]}},"Checksum":2258912424}',
];

it.each(kubeletFiles)('reads the kubelet’s file, and writes it with the kubelet’s checksum: %s', (text) => {
  expect(JSON.parse(checkpointText(readCheckpoint(text)))).toEqual(JSON.parse(text));
});

it('refuses a file whose checksum is another one', () => {
  const [, , text = ''] = kubeletFiles;
  expect(() => readCheckpoint(text.replace('"Dev-3"', '"Dev-4"'))).toThrow('checkpoint is corrupted');
});

it.each([
  '',
  '[]',
  '{}',
  '{"Data":{"PodDeviceEntries":7,"RegisteredDevices":{}},"Checksum":1}',
  '{"Data":{"PodDeviceEntries":[{"PodUID":1}],"RegisteredDevices":{}},"Checksum":1}',
  '{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{"a":[1]}},"Checksum":1}',
])('refuses what is no checkpoint: %s', (text) => {
  expect(() => readCheckpoint(text)).toThrow();
});

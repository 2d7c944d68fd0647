import { BlockList, isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isInternalHost, isPublicAddress } from '../../ports/public-address.ts';

describe('an address', () => {
  it.each([
    '8.8.8.8',
    '93.184.216.34',
    '1.1.1.1',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.0.1',
    '172.32.0.1',
    '192.0.1.1',
    '223.255.255.255',
  ])('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));

  it.each(['2606:4700::1111', '2a00:1450:4001::1', '2001:200::1', '2620:0:0:0:0:0:0:1', '2606:4700::8.8.8.8'])('%s is public', (address) =>
    expect(isPublicAddress(address)).toBe(true),
  );

  it.each([
    ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.0', '100.127.255.255', '127.0.0.1', '127.255.255.254'],
    ...['169.254.0.1', '169.254.169.254', '172.16.0.0', '172.31.255.255', '192.0.0.1', '192.0.0.170', '192.0.2.1', '192.88.99.1'],
    ...['192.168.0.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.250', '240.0.0.1'],
    '255.255.255.255',
  ])('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false));

  it.each([
    ...['::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:0:8.8.8.8', '::8.8.8.8', '::127.0.0.1', '64:ff9b::8.8.8.8'],
    ...['64:ff9b::7f00:1', '64:ff9b:1::8.8.8.8', '100::1', '2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001:10::1', '2001:20::1'],
    ...[
      '2001:db8::1',
      '2002:7f00:1::',
      '2002:808:808::1',
      '3fff::1',
      '4000::1',
      'fc00::1',
      'fd00:ec2::254',
      'fe80::1',
      'fec0::1',
      'ff02::1',
    ],
    ...['fe80::1%eth0', '2606:4700::1111%eth0'],
  ])('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false));

  it.each([
    '',
    'name',
    '8.8.8',
    '08.8.8.8',
    '8.8.8.8.',
    '8.8.8.256',
    '0x8.8.8.8',
    ' 8.8.8.8',
    '１.1.1.1',
    '2606::4700::1',
    '2606:4700',
    '::g',
    '1:2:3:4:5:6:7:8:9',
  ])('%j is none, so it is not public', (text) => expect(isPublicAddress(text)).toBe(false));

  it("is judged as the platform's own lists judge it", () => {
    const refused = new BlockList();
    const networks =
      '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 2001::/23 2001:db8::/32 2002::/16 3fff::/20';
    for (const [network = '', prefix] of networks.split(' ').map((each) => each.split('/')))
      refused.addSubnet(network, Number(prefix), isIP(network) === 6 ? 'ipv6' : 'ipv4');
    const routed = new BlockList();
    routed.addSubnet('2000::', 3, 'ipv6');
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
        const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
        const expected = !refused.check(address, family) && (family === 'ipv4' || routed.check(address, family));
        expect(isPublicAddress(address), address).toBe(expected);
      }),
      { numRuns: 2000, examples: [['2001:1ff:ffff::1'], ['2001:200::'], ['198.17.255.255'], ['198.20.0.0'], ['::1.2.3.4']] },
    );
  });
});

describe('the host of a URL', () => {
  it.each([
    ...['localhost', 'LOCALHOST.', 'a.localhost', 'a.b.localhost.', 'router', 'intranet', 'metadata.google.internal', 'printer.local'],
    ...['nas.lan', 'x.home.arpa', 'x.localdomain', '127.0.0.1', '[::1]', '[::ffff:8.8.8.8]', '', '.'],
  ])('%j is internal', (host) => expect(isInternalHost(host)).toBe(true));

  it.each([
    'example.com',
    'example.com.',
    'localhost.example.com',
    '127.0.0.1.nip.io',
    '8.8.8.8',
    '[2606:4700::1111]',
    'xn--bcher-kva.example',
  ])('%j is not, by its name alone', (host) => expect(isInternalHost(host)).toBe(false));
});

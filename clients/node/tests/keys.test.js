// Whom a request is counted for; no server is asked.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { byAddress, byHeader, byUser, perRoute } from 'weir-client/web';

function caller({ peer = '192.0.2.1', user = null, path = '/', headers = {} } = {}) {
  return { peer, header: (name) => headers[name.toLowerCase()] ?? null, method: 'GET', path, user, request: null };
}

test('by address', async () => {
  const inside = ['10.0.0.0/8'];
  const rows = [ // trusted, peer, X-Forwarded-For, key
    [[], '192.0.2.1', '198.51.100.9', '192.0.2.1'],
    [inside, '10.1.1.1', '198.51.100.9', '198.51.100.9'],
    [inside, '10.1.1.1', '203.0.113.5, 198.51.100.9, 10.2.2.2', '198.51.100.9'],
    [inside, '10.1.1.1', '10.3.3.3, 10.2.2.2', '10.3.3.3'],
    [inside, '10.1.1.1', undefined, '10.1.1.1'],
    [inside, '10.1.1.1', '198.51.100.9, nonsense', '10.1.1.1'],
    [inside, '10.1.1.1', '198.51.100.9:4711', '198.51.100.9'],
    [inside, '::ffff:10.1.1.1', '[2001:db8:1:2:3::4]:80', '2001:db8:1:2::/64'],
    [['2001:db8::/32'], '2001:db8::7', '"192.0.2.77"', '192.0.2.77'],
    [[], '2001:db8:1:2:ffff::1', undefined, '2001:db8:1:2::/64'],
    [[], '2001:DB8:0:0:1:2:3:4', undefined, '2001:db8::/64'],
    [[], 'fe80::1%eth0', undefined, 'fe80::/64'],
    [[], '::1', undefined, '::/64'],
    [[], '::ffff:192.0.2.1', undefined, '192.0.2.1'],
    [[], null, undefined, 'unknown'],
  ];
  for (const [trusted, peer, forwarded, key] of rows) {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
    assert.equal(await byAddress({ trusted })(caller({ peer, headers })), `address:${key}`, `${peer} ${forwarded}`);
  }
  assert.throws(() => byAddress({ trusted: ['inside'] }), TypeError);
});

test('by header, user and route', async () => {
  const headers = { 'x-api-key': 'k' };
  assert.equal(await byHeader('X-Api-Key')(caller({ headers })), 'header:k');
  assert.equal(await byHeader('X-Api-Key')(caller()), 'address:192.0.2.1');
  assert.equal(await byUser()(caller({ user: '7' })), 'user:7');
  assert.equal(await byUser(byHeader('X-Api-Key'))(caller({ headers })), 'header:k');
  assert.equal(await perRoute(byUser())(caller({ user: '7', path: '/a' })), 'user:7:GET:/a');
});

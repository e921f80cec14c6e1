import { type LookupAddress } from 'node:dns';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseEgressRule } from '../../../../src/adapters/executors/egress-rule.js';
import { EgressRules } from '../../../../src/adapters/executors/egress-rules.js';

const ruleAgainst = (allow: string[], deny: string[], host: string, address = host) =>
  new EgressRules({ allow, deny }).refusal(host, address)?.evidence['rule'] ?? null;

describe('EgressRules', () => {
  it.each([
    ['orders', '10.1.2.3'],
    ['127.0.0.1', '127.0.0.1'],
    ['localhost', '::1'],
    ['orders.example', '2001:db8::1'],
    ['169.255.0.1', '169.255.0.1'],
    ['fec0::1', 'fec0::1'],
  ])('without any lets calls to %s (%s) pass', (host, address) => {
    expect(ruleAgainst([], [], host, address)).toBeNull();
  });

  it.each([
    ['169.254.169.254', '169.254.0.0/16'],
    ['169.254.0.1', '169.254.0.0/16'],
    ['::ffff:169.254.169.254', '169.254.0.0/16'],
    ['::ffff:a9fe:a9fe', '169.254.0.0/16'],
    ['0:0:0:0:0:ffff:a9fe:a9fe', '169.254.0.0/16'],
    ['64:ff9b::a9fe:a9fe', '169.254.0.0/16'],
    ['fe80::1', 'fe80::/10'],
    ['fe80::1%eth0', 'fe80::/10'],
    ['FEBF::1', 'fe80::/10'],
    ['fd00:ec2::254', 'fd00:ec2::/32'],
    ['fd20:ce::254', 'fd20:ce::/32'],
    ['100.100.100.200', '100.100.100.200'],
    ['168.63.129.16', '168.63.129.16'],
  ])('keep calls from %s, also behind a name that is allowed', (address, rule) => {
    expect(ruleAgainst([], [], address)).toBe(rule);
    expect(ruleAgainst(['metadata.example', '0.0.0.0/0', '::/0'], [], 'metadata.example', address)).toBe(
      rule,
    );
  });

  it.each([
    [['169.254.169.254'], '169.254.169.254', null],
    [['169.254.169.254'], '::ffff:169.254.169.254', null],
    [['169.254.169.254'], '169.254.169.253', 'AX_HTTP_ALLOW'],
    [['169.254.0.0/16'], '169.254.1.1', null],
    [['169.254.0.0/15'], '169.254.1.1', '169.254.0.0/16'],
    [['0.0.0.0/0', '169.254.1.0/24'], '169.254.1.1', null],
    [['0.0.0.0/0', '169.254.1.0/24'], '169.254.2.1', '169.254.0.0/16'],
    [['fe80::/10'], 'fe80::1', null],
    [['fd00:ec2::254'], 'fd00:ec2::254', null],
  ])('of %j open a guarded address when they name it: %s', (allow, address, rule) => {
    expect(ruleAgainst(allow, [], 'metadata.example', address)).toBe(rule);
  });

  it.each([
    [['orders.example'], 'orders.example', '10.0.0.1', null],
    [['orders.example'], 'ORDERS.example.', '10.0.0.1', null],
    [['Orders.Example.'], 'orders.example', '10.0.0.1', null],
    [['orders.example'], 'x.orders.example', '10.0.0.1', 'AX_HTTP_ALLOW'],
    [['*.example'], 'orders.example', '10.0.0.1', null],
    [['*.example'], 'a.b.example', '10.0.0.1', null],
    [['*.example'], 'example', '10.0.0.1', 'AX_HTTP_ALLOW'],
    [['*.example'], 'badexample', '10.0.0.1', 'AX_HTTP_ALLOW'],
    [['bücher.example'], 'xn--bcher-kva.example', '10.0.0.1', null],
    [['10.0.0.0/8'], 'orders', '10.255.0.1', null],
    [['10.0.0.0/8'], 'orders', '::ffff:10.255.0.1', null],
    [['10.0.0.0/8'], 'orders', '11.0.0.1', 'AX_HTTP_ALLOW'],
    [['::/0'], 'orders', '2001:db8::1', null],
    [['::/0'], 'orders', '10.0.0.1', 'AX_HTTP_ALLOW'],
    [['0.0.0.0/0'], 'orders', '2001:db8::1', 'AX_HTTP_ALLOW'],
    [['10.0.0.1'], '10.0.0.1', '10.0.0.1', null],
  ])('that allow %j: %s (%s)', (allow, host, address, rule) => {
    expect(ruleAgainst(allow, [], host, address)).toBe(rule);
  });

  it.each([
    [['orders.example'], 'orders.example', '10.0.0.1', 'orders.example'],
    [['*.example'], 'orders.example', '10.0.0.1', '*.example'],
    [['10.0.0.0/8'], 'orders.example', '10.0.0.1', '10.0.0.0/8'],
    [['10.0.0.0/8'], 'orders.example', '::ffff:a00:1', '10.0.0.0/8'],
    [['::/0'], 'orders.example', '10.0.0.1', null],
    [['10.0.0.0/8'], 'orders.example', '11.0.0.1', null],
  ])('that deny %j win over those that allow: %s (%s)', (deny, host, address, rule) => {
    expect(ruleAgainst([], deny, host, address)).toBe(rule);
    expect(ruleAgainst([host, '10.0.0.1', '10.0.0.0/8'], deny, host, address)).toBe(rule);
  });

  it('name host, address and rule', () => {
    const rules = new EgressRules({ allow: [], deny: ['10.0.0.0/8'] });
    expect(rules.refusal('orders', '10.0.0.1')).toMatchObject({
      reason: 'egress_denied',
      message: 'connecting to orders (10.0.0.1) is denied: AX_HTTP_DENY has 10.0.0.0/8',
      evidence: { host: 'orders', address: '10.0.0.1', rule: '10.0.0.0/8' },
    });
  });

  it('judge an address the same however it is written', () => {
    const rules = new EgressRules({ allow: [], deny: ['10.0.0.0/8', '192.168.0.0/16'] });
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
        const tail = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
        const plain = rules.refusal('orders', address)?.evidence['rule'];
        for (const other of [`::ffff:${address}`, `::ffff:${tail}`, `0:0:0:0:0:FFFF:${tail}`])
          expect(rules.refusal('orders', other)?.evidence['rule']).toBe(plain);
      }),
    );
  });
});

describe('the lookup of EgressRules', () => {
  const v4 = (address: string): LookupAddress => ({ address, family: 4 });
  const lookupOf = (answers: (LookupAddress[] | Error)[], all: boolean) => {
    const rules = new EgressRules({ allow: [], deny: ['10.0.0.0/8'] }, (_host, options, callback) => {
      expect(options.all).toBe(true);
      const answer = answers.shift() ?? new Error('asked too often');
      if (answer instanceof Error) callback(answer, []);
      else callback(null, answer);
    });
    return new Promise((resolve) =>
      rules.lookup('orders', { all }, (error, found, family) => resolve(error ?? [found, family])),
    );
  };

  it('gives only addresses that may be connected to, in their order', async () => {
    const found = [v4('10.0.0.1'), v4('1.1.1.1'), v4('169.254.169.254'), v4('1.0.0.1')];
    expect(await lookupOf([found], true)).toEqual([[v4('1.1.1.1'), v4('1.0.0.1')], undefined]);
    expect(await lookupOf([found], false)).toEqual(['1.1.1.1', 4]);
  });

  it('gives the first refusal if there are none', async () => {
    const found = [v4('10.0.0.1'), v4('169.254.169.254')];
    for (const all of [true, false])
      expect(await lookupOf([found], all)).toMatchObject({ evidence: { address: '10.0.0.1' } });
  });

  it('passes on why a name could not be resolved', async () => {
    const error = new Error('ENOTFOUND');
    expect(await lookupOf([error], true)).toBe(error);
  });
});

describe('an egress rule', () => {
  it.each([
    ...[
      '',
      '*',
      '*.',
      'a b',
      'http://orders',
      'orders:80',
      '10.0.0',
      '300.1.1.1',
      '10.0.0.0/33',
      '10.0.0.0/',
      '10.0.0.0/8/8',
    ],
    ...[
      '10.0.0.0/-1',
      'fe80::/129',
      '::ffff:10.0.0.0/104',
      'fe80::1%eth0',
      'orders/8',
      '[::1]',
      'a.*.b',
      '0x7f.1',
    ],
  ])('is not %j', (text) => {
    expect(() => parseEgressRule(text)).toThrow(text === '' ? /"" is neither/ : `"${text}"`);
  });
});

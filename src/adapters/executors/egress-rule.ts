import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/** A host, or with `isSuffix` all hosts below it. */
export interface HostRule {
  readonly kind: 'host';
  readonly text: string;
  readonly host: string;
  readonly isSuffix: boolean;
}

/** An address, or a range of them in CIDR notation. */
export interface AddressRule {
  readonly kind: 'address';
  readonly text: string;
  readonly family: 4 | 6;
  readonly prefix: number;
  readonly range: BlockList;
}

export type EgressRule = HostRule | AddressRule;

/** Whether a rule is about this target. `host`: lower case, without a dot at its end. `address`: IPv4 as such, never mapped. */
export function names(
  rule: EgressRule,
  target: { readonly host: string; readonly address: string },
): boolean {
  if (rule.kind === 'host')
    return rule.isSuffix ? target.host.endsWith(`.${rule.host}`) : target.host === rule.host;
  // A range of IPv6 such as ::/0 would take IPv4 addresses for mapped ones.
  if (isIP(target.address) !== rule.family) return false;
  return rule.range.check(target.address, rule.family === 4 ? 'ipv4' : 'ipv6');
}

/** `orders.example`, `*.example` (not `example` itself), `10.1.2.3`, `10.0.0.0/8`, `fd00::/8`. @throws Error that says what is wrong. */
export function parseEgressRule(text: string): EgressRule {
  const [address = '', ...prefixes] = text.split('/');
  const family = isIP(address);
  return family === 4 || family === 6 ? addressRule(text, address, family, prefixes) : hostRule(text);
}

function addressRule(text: string, address: string, family: 4 | 6, prefixes: readonly string[]): AddressRule {
  const bits = family === 4 ? 32 : 128;
  const [prefixText = String(bits)] = prefixes;
  const isPrefix = prefixes.length < 2 && /^\d{1,3}$/.test(prefixText) && Number(prefixText) <= bits;
  if (!isPrefix) throw new Error(`"${text}" needs one prefix length from 0 to ${bits}`);
  if (/^::ffff:|%/i.test(address)) throw new Error(`"${text}" is not plain: write IPv4 as such, and no zone`);
  const prefix = Number(prefixText);
  const range = new BlockList();
  range.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6');
  return { kind: 'address', text, family, prefix, range };
}

function hostRule(text: string): HostRule {
  const isSuffix = text.startsWith('*.');
  const written = text.slice(isSuffix ? 2 : 0).replace(/\.$/, '');
  // Numbers with dots are what a mistyped address looks like, and what follows a delimiter is lost on the way.
  const host = /[\s/:?#@%\\]/.test(written) ? '' : domainToASCII(written);
  if (!/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host) || isIP(host) !== 0)
    throw new Error(`"${text}" is neither a host name, "*." and one, an IP address nor a CIDR range`);
  return { kind: 'host', text, host, isSuffix };
}

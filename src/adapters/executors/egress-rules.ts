import { lookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { type LookupFunction, SocketAddress } from 'node:net';
import { CallRefused } from './call-refused.js';
import { type AddressRule, type EgressRule, names, parseEgressRule } from './egress-rule.js';

type Resolve = (
  host: string,
  options: LookupOptions & { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Link-local addresses, and those where clouds hand credentials to their machines. */
const GUARDED = [
  '169.254.0.0/16',
  'fe80::/10',
  'fd00:ec2::/32', // AWS
  'fd20:ce::/32', // Google Cloud
  '100.100.100.200', // Alibaba Cloud
  '168.63.129.16', // Azure
  '192.0.0.192', // Oracle Cloud
].map((text) => parseEgressRule(text) as AddressRule);

/**
 * Where the calls of this worker may lead (AX_HTTP_ALLOW, AX_HTTP_DENY), judged by the host that is asked for and the address that it
 * resolves to:
 *   1. what a deny rule names is denied;
 *   2. if there are allow rules, what none of them names is denied;
 *   3. a guarded address (link-local, metadata of clouds) is denied unless an allow rule of addresses names it that is no wider than the
 *      guarded range, so neither a host rule nor `0.0.0.0/0` opens it;
 *   4. everything else is allowed.
 * An IPv6 address that stands for an IPv4 one (mapped, or NAT64's 64:ff9b::/96) is judged as that.
 *
 * Every call by HttpExecutor is covered, those of hooks too. Whoever opens sockets otherwise passes `lookup` to `connect`, which thereby
 * gets only addresses that were judged, and asks `refusal` first for hosts that are addresses: `connect` looks those up nowhere.
 */
export class EgressRules {
  private readonly allow: readonly EgressRule[];
  private readonly deny: readonly EgressRule[];

  /** @throws Error for a text that `parseEgressRule` refuses. `resolve`: instead of the system's resolver. */
  constructor(
    rules: { readonly allow: readonly string[]; readonly deny: readonly string[] } = { allow: [], deny: [] },
    private readonly resolve: Resolve = lookup,
  ) {
    this.allow = rules.allow.map(parseEgressRule);
    this.deny = rules.deny.map(parseEgressRule);
  }

  /** Why no connection may be opened to `address` for `host`; null if one may. */
  refusal(host: string, address: string): CallRefused | null {
    const target = { host: host.toLowerCase().replace(/\.$/, ''), address: plainAddress(address) };
    const refuse = (rule: string, why: string) => {
      const shown = host === address ? host : `${host} (${address})`;
      return new CallRefused('egress_denied', `connecting to ${shown} is denied: ${why}`, {
        host,
        address,
        rule,
      });
    };
    const denying = this.deny.find((rule) => names(rule, target));
    if (denying !== undefined) return refuse(denying.text, `AX_HTTP_DENY has ${denying.text}`);
    const allowing = this.allow.filter((rule) => names(rule, target));
    if (this.allow.length > 0 && allowing.length === 0)
      return refuse('AX_HTTP_ALLOW', 'AX_HTTP_ALLOW does not name it');
    const guarding = GUARDED.find((rule) => names(rule, target));
    if (guarding === undefined || allowing.some((rule) => isNoWider(rule, guarding))) return null;
    return refuse(guarding.text, `${guarding.text} is closed unless AX_HTTP_ALLOW has the address`);
  }

  /** As `dns.lookup`, with only the addresses that may be connected to; an error if there are others only. */
  readonly lookup: LookupFunction = (host, options, callback) => {
    this.resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, []);
        return;
      }
      const judged = addresses.map((found) => ({ found, refusal: this.refusal(host, found.address) }));
      const open = judged.flatMap(({ found, refusal }) => (refusal === null ? [found] : []));
      const [first] = open;
      if (first === undefined) callback(judged[0]?.refusal ?? new Error(`${host} has no address`), []);
      else if (options.all === true) callback(null, open);
      else callback(null, first.address, first.family);
    });
  };
}

const isNoWider = (rule: EgressRule, guarding: AddressRule): boolean =>
  rule.kind === 'address' && rule.prefix >= guarding.prefix;

/** Without a zone; an IPv4 address that is written as an IPv6 one, as such. */
function plainAddress(address: string): string {
  const bare = address.replace(/%.*$/, '');
  if (!bare.includes(':')) return bare;
  const short = new SocketAddress({ address: bare, family: 'ipv6' }).address;
  const mapped = new SocketAddress({
    address: short.replace(/^64:ff9b::(?=[\da-f]+:[\da-f]+$)/, '::ffff:'),
    family: 'ipv6',
  }).address;
  return mapped.replace(/^::ffff:(?=\d+\.)/, '');
}

import { Netmask, ip2long, long2ip } from "netmask";
const block = new Netmask("10.0.0.0/12");
const ips = [];
new Netmask("10.1.0.0/29").forEach((ip) => ips.push(ip));
export const result = [block.base, block.mask, block.bitmask, block.hostmask, block.broadcast, block.size, block.first, block.last, block.contains("10.0.8.10"), block.next().toString(), ips, ip2long("1.2.3.4"), long2ip(16909060)];

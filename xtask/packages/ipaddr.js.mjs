import ipaddr from "ipaddr.js";
export const result = [
  ipaddr.parse("2001:db8::1").toNormalizedString(), ipaddr.parse("192.168.1.10").match(ipaddr.parseCIDR("192.168.0.0/16")), ipaddr.parse("10.0.0.1").range(),
  ipaddr.process("::ffff:192.168.1.1").toString(), ipaddr.isValid("1.2.3.999"), ipaddr.parse("1.2.3.4").toByteArray(), ipaddr.IPv4.networkAddressFromCIDR("10.1.2.3/20").toString(),
  ipaddr.IPv4.broadcastAddressFromCIDR("10.1.2.3/20").toString(), ipaddr.subnetMatch(ipaddr.parse("10.5.0.1"), { office: [ipaddr.parseCIDR("10.5.0.0/16")] }, "none"),
];

import { mergeCidr, excludeCidr, expandCidr, overlapCidr, containsCidr, normalizeCidr, parseCidr } from "cidr-tools";
export const result = [
  mergeCidr(["1.0.0.0/24", "1.0.1.0/24"]), excludeCidr("10.0.0.0/22", "10.0.1.0/24"), Array.from(expandCidr("2001:db8::/126")), overlapCidr("1.0.0.0/24", "1.0.0.128/25"),
  containsCidr(["1.0.0.0/24", "2.0.0.0/24"], "1.0.0.1"), normalizeCidr("::ffff/64"), parseCidr("10.0.0.0/8").end.toString(),
];

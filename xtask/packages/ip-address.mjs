import { Address4, Address6 } from "ip-address";
const v6 = new Address6("2001:db8::/64");
export const result = [new Address4("10.2.3.4/24").startAddress().correctForm(), new Address4("10.2.3.4/24").endAddress().correctForm(), new Address4("192.168.1.1").isInSubnet(new Address4("192.168.0.0/16")), v6.canonicalForm(), v6.bigInt().toString(), Address6.fromAddress4("1.2.3.4").correctForm(), Address4.isValid("1.2.3"), new Address4("1.2.3.4").toHex(), v6.getType()];

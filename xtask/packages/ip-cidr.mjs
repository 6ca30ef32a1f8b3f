import IPCIDR from "ip-cidr";
const cidr = new IPCIDR("50.165.190.0/28");
export const result = [cidr.start(), cidr.end(), cidr.toArray({ from: 1, limit: 3 }), cidr.contains("50.165.190.5"), IPCIDR.isValidCIDR("1.2.3.4"), cidr.toRange(), new IPCIDR("2001:db8::/120").size.toString()];

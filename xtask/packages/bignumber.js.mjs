import BigNumber from "bignumber.js";
export const result = [new BigNumber("0.1").plus("0.2").toString(), new BigNumber(2).pow(100).toFixed(), new BigNumber("123456.789").toFormat(2), new BigNumber("ff", 16).toNumber(), BigNumber.max(1, 5, 3).toString()];

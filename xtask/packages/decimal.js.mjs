import Decimal from "decimal.js";
export const result = [new Decimal("0.1").plus(0.2).toString(), Decimal.sqrt(2).toFixed(30), new Decimal("1e-9").times(3).toString(), Decimal.set({ precision: 50 }) && new Decimal(1).div(7).toString()];

// IAM policies as plain functions.
export interface Statement {
  Effect: "Allow";
  Action: string | string[];
  Resource?: string;
  Principal?: object;
  Condition?: object;
}

export const policy = (...Statement: Statement[]) => ({ Version: "2012-10-17", Statement });

export const allow = (Action: string | string[], Resource: string): Statement => ({ Effect: "Allow", Action, Resource });

/** The policy of a role that a service may assume. */
export const trust = (Service: string) => policy({ Effect: "Allow", Action: "sts:AssumeRole", Principal: { Service } });

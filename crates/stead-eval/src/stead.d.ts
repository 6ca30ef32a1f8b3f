/** What every resource takes as its second argument. */
export interface ResourceOptions {
  /** Tells it apart from its siblings of the same type. Not a bare number. */
  id?: string;
  /** A name that does not depend on where the code stands; unique in the environment. */
  gid?: string;
  /** What must be there first, besides what its properties already refer to. */
  dependsOn?: Resource | readonly Resource[];
  /** Refuses every plan that would delete or replace it. */
  preventDelete?: boolean;
  /** A replacement deletes the old one before it creates the new one. */
  deleteBeforeReplace?: boolean;
}

/**
 * Deriving from it is what makes a class a resource. A class that derives from it directly groups what it
 * allocates; one that derives from a provider's class is provisioned.
 */
export abstract class Resource {
  constructor(id?: string, options?: Omit<ResourceOptions, "id">);
}

/** The project's configuration for this environment. */
export const config: {
  /** The value, or `undefined` if it is not set. */
  get<T = string>(key: string): T | undefined;
  /** The value; stops the evaluation if it is not set. */
  require<T = string>(key: string): T;
  /** A number, or `undefined` if it is not set. */
  number(key: string): number | undefined;
  /** True or false, or `undefined` if it is not set. */
  boolean(key: string): boolean | undefined;
};

/** The environment's name, such as `"prod"`. */
export const env: string;
/** The namespace within the environment, if there is one. */
export const namespace: string | undefined;
/** The project's name. */
export const project: string;
/** The target that the graph is applied to, such as `"local"`. */
export const target: string;

declare global {
  /** What is printed goes to stderr, with file and line. */
  var console: {
    log(...values: unknown[]): void;
    info(...values: unknown[]): void;
    debug(...values: unknown[]): void;
    warn(...values: unknown[]): void;
    error(...values: unknown[]): void;
  };
}

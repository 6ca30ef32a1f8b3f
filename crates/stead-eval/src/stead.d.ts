/** What every resource takes as its second argument. */
export interface ResourceOptions {
  /** Tells it apart from its siblings of the same type. Not a bare number. */
  id?: string;
  /** A name that does not depend on where the code stands; unique in the environment. */
  gid?: string;
  /** What must be there first, besides what its properties already refer to. */
  dependsOn?: Resource | readonly Resource[];
  /** Refuses every plan that would delete or replace it, or what is inside it. */
  preventDelete?: boolean;
  /** Whether it stays what and where it is: pinned, it is neither deleted nor replaced nor moved by accident. */
  pinned?: boolean;
  /** Whether the real thing goes when its declaration does; `"retain"` leaves it where it is. */
  deletionPolicy?: "delete" | "retain";
  /** The same marks by their keys, for one service too: `{ "s3/deletion-policy": "retain" }`. Inherited by what is inside. */
  annotations?: { readonly [key: string]: string | boolean };
  /** The same as `preventDelete`. */
  protect?: boolean;
  /** `true` is the same as `deletionPolicy: "retain"`, `false` as `"delete"`. */
  retainOnDelete?: boolean;
  /** A replacement deletes the old one before it creates the new one. */
  deleteBeforeReplace?: boolean;
  /** Names that it had before, with or without the environment: `"main:local.File#old"`. */
  aliases?: string | readonly string[];
  /** Places in its properties where changes are not made: `"tags"`, `"rules[*].port"`. */
  ignoreChanges?: string | readonly string[];
  /** Places in its properties where a change replaces it. */
  replaceOnChanges?: string | readonly string[];
  /** When that one is deleted, this one is gone with it, and is not deleted by itself. */
  deletedWith?: Resource;
  /** When one of these is replaced, this one is too. */
  replaceWith?: Resource | readonly Resource[];
  /** The provider that serves it, instead of the target's own. */
  provider?: Resource;
  /** The id of something that exists already, and becomes this resource. */
  import?: string;
  /** How long the provider may take: seconds, or text such as `"90s"`, `"10m"`, `"1h30m"`. */
  timeouts?: { create?: number | string; update?: number | string; delete?: number | string; read?: number | string };
}

/** What a group takes: the rest is said of real things. */
export type GroupOptions = Pick<
  ResourceOptions,
  "gid" | "dependsOn" | "preventDelete" | "deletionPolicy" | "pinned" | "annotations" | "protect" | "retainOnDelete"
>;

/**
 * Deriving from it is what makes a class a resource. A class that derives from it directly groups what it
 * allocates; one that derives from a provider's class is provisioned.
 */
export abstract class Resource {
  constructor(id?: string, options?: GroupOptions);
  /** Whether all its instances are pinned, with all that is in them. What is said of one instance counts more. */
  static pinned?: boolean;
}

/** What can be said of a resource once it is made. */
export interface Node {
  /**
   * Whether it stays what and where it is, with all that is in it; the nearest setting counts. `undefined` as long as
   * nothing is said of it or of what is around it: then its type decides.
   */
  get pinned(): boolean | undefined;
  set pinned(flag: boolean);
}

/** The node of a resource or a group: `nodeOf(bucket).pinned = true`. */
export function nodeOf(resource: Resource): Node;

/**
 * Runs a function once a value is known: at once, or after apply if it comes from a resource. The function gets
 * plain values and returns plain data; it makes no resource and reads none.
 */
export function apply<T, R>(value: T, f: (value: T) => R): R;
/** The same for several values, one argument for each: `all([a, b], (a, b) => …)`. */
export function all<T extends readonly unknown[], R>(values: readonly [...T], f: (...values: T) => R): R;

/** The project's configuration for this environment. */
export const config: {
  /** The value, or `undefined` if it is not set. */
  get<T = string>(key: string): T | undefined;
  /** The value; stops the evaluation if it is not set. */
  require<T = string>(key: string): T;
  /** The value as a secret; stops the evaluation if it is not set. */
  secret(key: string): string;
  /** A number, or `undefined` if it is not set. */
  number(key: string): number | undefined;
  /** True or false, or `undefined` if it is not set. */
  boolean(key: string): boolean | undefined;
};

/**
 * The value as a secret. It can be used in properties, text and expressions like any other; what is made from it is
 * secret too. Nothing prints it, and the program cannot decide on it.
 */
export function secret<T>(value: T): T;

/** Another project's stack, in the same place for state. */
export function stack(project: string, options?: { env?: string; namespace?: string; target?: string }): {
  /** What that stack exported when it was last applied. */
  readonly outputs: Readonly<Record<string, any>>;
};

/** The environment's name, such as `"prod"`. */
export const env: string;
/** The namespace within the environment, if there is one. */
export const namespace: string | undefined;
/** The project's name. */
export const project: string;
/** The target that the graph is applied to, such as `"local"`. */
export const target: string;

/** Text as base64, and back. Characters are utf-8. */
export const base64: {
  encode(value: string | Uint8Array): string;
  decode(text: string): string;
};

/** A digest in hexadecimal. Text is hashed as utf-8. */
export function hash(value: string | Uint8Array, algorithm?: "sha256" | "sha384" | "sha512"): string;

/** A file or a folder of the project, by path and digest. */
export interface Asset {
  readonly path: string;
  /** Changes with the content. */
  readonly hash: string;
}

/** The text of a file. Paths are relative to the project's folder, and nothing outside it is read. */
export function readText(path: string): string;
/** A file as an asset. */
export function file(path: string): Asset;
/** A folder with everything in it, as an asset. */
export function archive(folder: string): Asset;

declare global {
  /** A deep copy of data. */
  function structuredClone<T>(value: T): T;
  /** Base64 of characters up to U+00FF; for other text, see `base64` in module "stead". */
  function btoa(text: string): string;
  function atob(text: string): string;
  function queueMicrotask(callback: () => void): void;

  interface TextEncoder {
    readonly encoding: string;
    encode(text?: string): Uint8Array;
    encodeInto(text: string, target: Uint8Array): { read: number; written: number };
  }
  var TextEncoder: { new (): TextEncoder; prototype: TextEncoder };

  interface TextDecoder {
    readonly encoding: string;
    readonly fatal: boolean;
    readonly ignoreBOM: boolean;
    decode(bytes?: ArrayBuffer | ArrayBufferView): string;
  }
  var TextDecoder: {
    new (label?: "utf-8" | "utf8", options?: { fatal?: boolean; ignoreBOM?: boolean }): TextDecoder;
    prototype: TextDecoder;
  };

  interface URL {
    href: string;
    readonly origin: string;
    protocol: string;
    username: string;
    password: string;
    host: string;
    hostname: string;
    port: string;
    pathname: string;
    search: string;
    readonly searchParams: URLSearchParams;
    hash: string;
    toString(): string;
    toJSON(): string;
  }
  var URL: {
    new (url: string | URL, base?: string | URL): URL;
    prototype: URL;
    canParse(url: string | URL, base?: string | URL): boolean;
    parse(url: string | URL, base?: string | URL): URL | null;
  };

  interface URLSearchParams {
    readonly size: number;
    append(name: string, value: string): void;
    delete(name: string, value?: string): void;
    get(name: string): string | null;
    getAll(name: string): string[];
    has(name: string, value?: string): boolean;
    set(name: string, value: string): void;
    sort(): void;
    forEach(callback: (value: string, name: string, parent: URLSearchParams) => void): void;
    entries(): IterableIterator<[string, string]>;
    keys(): IterableIterator<string>;
    values(): IterableIterator<string>;
    [Symbol.iterator](): IterableIterator<[string, string]>;
    toString(): string;
  }
  var URLSearchParams: {
    new (init?: string | Record<string, string> | Iterable<readonly [string, string]> | URLSearchParams): URLSearchParams;
    prototype: URLSearchParams;
  };

  /** What is printed goes to stderr, with file and line. */
  var console: {
    log(...values: unknown[]): void;
    info(...values: unknown[]): void;
    debug(...values: unknown[]): void;
    warn(...values: unknown[]): void;
    error(...values: unknown[]): void;
  };
}

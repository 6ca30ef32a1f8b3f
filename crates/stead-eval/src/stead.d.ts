/** Options of every resource, given as its second argument. */
export interface ResourceOptions {
  /** Distinguishes the resource from siblings of the same type. Not a bare number. */
  id?: string;
  /** Name that does not depend on module and scope; unique in the environment. */
  gid?: string;
  /** Dependencies in addition to the resources that the properties refer to. */
  dependsOn?: Resource | readonly Resource[];
  /** Refuses every plan that would delete or replace the resource or a resource inside it. */
  preventDelete?: boolean;
  /** Pins the resource: a plan that would delete, replace or move it is refused. */
  pinned?: boolean;
  /** Effect of removing the declaration: delete the real resource, or `"retain"` it. */
  deletionPolicy?: "delete" | "retain";
  /** Marks by key, also for one service: `{ "s3/deletion-policy": "retain" }`. Resources inside inherit them. */
  annotations?: { readonly [key: string]: string | boolean };
  /** Synonym of `preventDelete`. */
  protect?: boolean;
  /** `true` means `deletionPolicy: "retain"`, `false` means `"delete"`. */
  retainOnDelete?: boolean;
  /** A replacement deletes the old resource before it creates the new one. */
  deleteBeforeReplace?: boolean;
  /** Earlier names, with or without the environment: `"main:local.File#old"`. */
  aliases?: string | readonly string[];
  /** Property paths whose changes are ignored: `"tags"`, `"rules[*].port"`. */
  ignoreChanges?: string | readonly string[];
  /** Property paths whose changes replace the resource. */
  replaceOnChanges?: string | readonly string[];
  /** Property paths whose values are secrets, in inputs and outputs: `"password"`, `"settings.token"`. */
  sensitive?: string | readonly string[];
  /** Container whose deletion also deletes this resource, so that no separate delete is needed. */
  deletedWith?: Resource;
  /** Resources whose replacement also replaces this resource. */
  replaceWith?: Resource | readonly Resource[];
  /** Provider of the resource, instead of the target's default provider. */
  provider?: Resource;
  /** Id of an existing resource to import as this resource. */
  import?: string;
  /** Timeouts of the provider's operations: seconds, or a duration such as `"90s"`, `"10m"`, `"1h30m"`. */
  timeouts?: { create?: number | string; update?: number | string; delete?: number | string; read?: number | string };
}

/** Options of a group. The other options apply only to provisioned resources. */
export type GroupOptions = Pick<
  ResourceOptions,
  "gid" | "dependsOn" | "preventDelete" | "deletionPolicy" | "pinned" | "annotations" | "protect" | "retainOnDelete"
>;

/**
 * Base class of all resources. A class that extends it directly is a group of the resources it creates; a class that
 * extends a provider's class is a provisioned resource.
 */
export abstract class Resource {
  constructor(id?: string, options?: GroupOptions);
  /** Pins all instances with the resources inside them. A setting of one instance has precedence. */
  static pinned?: boolean;
  /** Property whose value is the `gid` of each instance: a string, known while planning and unique in the environment. */
  static gid?: string;
}

/** Settings of a resource after its declaration. */
export interface Node {
  /**
   * Whether the resource is pinned with the resources inside it; the nearest setting has precedence. `undefined` if neither
   * the resource nor an enclosing one has a setting: then its type decides.
   */
  get pinned(): boolean | undefined;
  set pinned(flag: boolean);
}

/** Returns the settings of a resource or a group: `nodeOf(bucket).pinned = true`. */
export function nodeOf(resource: Resource): Node;

/**
 * Says that a recorded resource is now the resource of another declaration, so that it is neither deleted nor created
 * again. The pin of a pinned resource moves with it.
 *
 * `from` is the former name (`"main:local.File#old"`) or path (`"local.File.old"`); `to` is the resource, or its name or
 * path. A `from` that is not recorded has no effect, so that the call can stay until every environment has applied it.
 */
export function move(from: string, to: Resource | string): void;

/**
 * Runs a function once a value is known: immediately, or after apply if the value comes from a resource. The function
 * receives and returns plain data; it must not create or read resources.
 */
export function apply<T, R>(value: T, f: (value: T) => R): R;
/** Runs a function once several values are known: `all([a, b], (a, b) => …)`. */
export function all<T extends readonly unknown[], R>(values: readonly [...T], f: (...values: T) => R): R;

/**
 * Declared type of a config value. The value is required unless it has a default or is optional; each method returns
 * another type.
 */
export interface ConfigType<T> {
  /** The value, for the type checker only. */
  readonly "~value"?: T;
  /** The key may be missing; the value is then `undefined`. */
  optional(): ConfigType<T | undefined>;
  /** The value if the key is not set. */
  default(value: Exclude<T, undefined>): ConfigType<Exclude<T, undefined>>;
  /** The least number, length of a string, or number of items. */
  min(least: number): ConfigType<T>;
  /** The greatest number, length of a string, or number of items. */
  max(most: number): ConfigType<T>;
  /** A regular expression that the string must match; without look-around and backreferences. */
  pattern(pattern: string | RegExp): ConfigType<T>;
  /** The only allowed values. */
  oneOf<const V extends T>(...values: V[]): ConfigType<V>;
  /** The value is a secret, and is never displayed. */
  secret(): ConfigType<T>;
  /** A sentence for people who must set the value. */
  describe(text: string): ConfigType<T>;
}

/** Types for `config.schema`. */
export const t: {
  string(): ConfigType<string>;
  number(): ConfigType<number>;
  integer(): ConfigType<number>;
  boolean(): ConfigType<boolean>;
  list(): ConfigType<unknown[]>;
  list<T>(items: ConfigType<T>): ConfigType<T[]>;
  map(): ConfigType<Record<string, unknown>>;
  map<T>(values: ConfigType<T>): ConfigType<Record<string, T>>;
};

/** Declarations of config keys; an object inside it declares the keys of a table. */
export interface ConfigShape {
  readonly [key: string]: ConfigType<any> | ConfigShape;
}

/** The values that a schema declares. */
export type ConfigValues<S> = {
  readonly [K in keyof S]: S[K] extends ConfigType<infer T> ? T : ConfigValues<S[K]>;
};

/**
 * The config of this environment: from `stead.toml`, `stead.ENV.toml`, variables `STEAD_CONFIG_*`, `--config-file` and
 * `--config`. A key of a table is written with a dot: `config.get("db.size")`.
 */
export const config: {
  /**
   * Declares keys with their types, checks all of them at once, and returns their values:
   * `const { size } = config.schema({ size: t.integer().min(1).default(3) })`.
   */
  schema<S extends ConfigShape>(shape: S): ConfigValues<S>;
  /** Returns the value, or `undefined` if it is not set. An encrypted value is a secret. */
  get<T = string>(key: string): T | undefined;
  /** Returns the value; throws if it is not set. */
  require<T = string>(key: string): T;
  /** Returns the value as a secret; throws if it is not set. */
  secret(key: string): string;
  /** Returns a number, or `undefined` if it is not set. */
  number(key: string): number | undefined;
  /** Returns true or false, or `undefined` if it is not set. */
  boolean(key: string): boolean | undefined;
};

/**
 * Returns the value as a secret. It can be used in properties, text and expressions; values computed from it are secret
 * too. It is never displayed, and the program cannot branch on it.
 */
export function secret<T>(value: T): T;

/**
 * Returns a value that reaches the provider and is recorded nowhere: neither in a plan nor in state. The function runs right
 * before each call of a provider that needs the value, and uses only values that are known while planning. The value is a
 * secret; it cannot be exported.
 */
export function ephemeral<T>(f: () => T): T;

/** Refers to the stack of another project that uses the same state. */
export function stack(project: string, options?: { env?: string; namespace?: string; target?: string }): {
  /** Outputs of the stack as of its last apply. */
  readonly outputs: Readonly<Record<string, any>>;
};

/** The environment's name, such as `"prod"`. */
export const env: string;
/** The namespace within the environment, if there is one. */
export const namespace: string | undefined;
/** The project's name. */
export const project: string;
/** The target of the stack, such as `"local"`. */
export const target: string;

/**
 * Encodes and decodes base64. Text is utf-8. These functions and those of `hash`, `cidr`, `semver`, `yaml`, `toml`, `json`
 * and `text` take values that are known only after apply; their result is then known after apply too.
 */
export const base64: {
  encode(value: string | Uint8Array): string;
  /** Encodes in the alphabet for URLs, without padding. */
  encodeUrl(value: string | Uint8Array): string;
  decode(text: string): string;
  decodeUrl(text: string): string;
  /** Decodes bytes that are not text. The text must be known. */
  decodeBytes(text: string): Uint8Array;
};

/** Returns a digest in hexadecimal. Text is hashed as utf-8. */
export function hash(value: string | Uint8Array, algorithm?: "md5" | "sha1" | "sha256" | "sha384" | "sha512"): string;

/** Address ranges such as `"10.0.0.0/16"` and `"2001:db8::/32"`. */
export const cidr: {
  /** Returns the subnet with a number, whose prefix is longer by `newBits`. */
  subnet(base: string, newBits: number, index: number): string;
  /** Returns consecutive subnets, one for each number of new bits. */
  subnets(base: string, ...newBits: number[]): string[];
  /** Returns all subnets whose prefix is longer by `newBits`. */
  split(base: string, newBits: number): string[];
  /** Returns true if an address or a range is inside a range. */
  contains(range: string, addressOrRange: string): boolean;
  overlaps(one: string, other: string): boolean;
  /** Returns an address by its number; a negative number counts from the end. */
  host(base: string, index: number): string;
  /** Returns the netmask of an IPv4 range. */
  netmask(base: string): string;
  first(base: string): string;
  last(base: string): string;
  /** Returns the number of addresses, up to 2^53. */
  size(base: string): number;
};

/** Versions and ranges of versions by the rules of npm. */
export const semver: {
  /** Returns the parts of a version; throws if it is none. */
  parse(version: string): {
    version: string;
    major: number;
    minor: number;
    patch: number;
    prerelease: (string | number)[];
    build: string[];
  };
  /** Returns -1, 0 or 1. */
  compare(one: string, other: string): -1 | 0 | 1;
  satisfies(version: string, range: string): boolean;
  /** Returns the greatest version in a range, or null. */
  maxSatisfying(versions: readonly string[], range: string): string | null;
  /** Returns the next version of a kind; `identifier` names a prerelease: `semver.inc("1.2.3", "prerelease", "beta")`. */
  inc(
    version: string,
    release: "major" | "minor" | "patch" | "premajor" | "preminor" | "prepatch" | "prerelease",
    identifier?: string,
  ): string;
  /** Returns the versions in ascending order. */
  sort(versions: readonly string[]): string[];
};

/** YAML 1.2 with the core schema: `no` is a string. */
export const yaml: {
  parse<T = any>(text: string): T;
  /** Returns every document of a text. */
  parseAll<T = any>(text: string): T[];
  /** Writes data as YAML. Values known only after apply are written as JSON, which is YAML too. */
  stringify(value: unknown): string;
};

export const toml: {
  /** Reads TOML; a date is its text. */
  parse<T = any>(text: string): T;
  /** Writes an object as TOML, with its keys in alphabetical order. Values may be known only after apply; null is an error. */
  stringify(value: object): string;
};

export const json: {
  /** Returns JSON with sorted keys. */
  canonical(value: unknown, indent?: number): string;
};

export const text: {
  /** Removes the indentation that all lines share, and a blank first and last line. */
  dedent(text: string): string;
  /** Puts spaces, or a text, in front of each line that is not empty. */
  indent(text: string, spaces: number | string): string;
};

/** Values for the placeholders of a template. */
export interface TemplateValues {
  readonly [name: string]: string | number | boolean | TemplateValues;
}

/**
 * Returns a text whose placeholders `${name}` and `${table.name}` are replaced; `$${` stands for the text `${`. A
 * placeholder without a value and a value without a placeholder are errors. Values may be known only after apply.
 */
export function render(template: string, values?: TemplateValues): string;
/** Returns the text of a template file with its placeholders replaced, as `render` does. */
export function template(path: string, values?: TemplateValues): string;

/** File or folder of the project, by path and digest. */
export interface Asset {
  readonly path: string;
  /** Digest of the content. */
  readonly hash: string;
}

/** Returns the text of a file. The path is relative to the project folder; files outside it cannot be read. */
export function readText(path: string): string;
/** Returns the bytes of a file. */
export function readBytes(path: string): Uint8Array;
/** Returns the data of a JSON file. */
export function readJson<T = unknown>(path: string): T;
/** Returns the data of a YAML file. */
export function readYaml<T = unknown>(path: string): T;
/** Returns the data of a TOML file. */
export function readToml<T = unknown>(path: string): T;
/**
 * Returns the sorted paths of all files below a folder, or of the files that match a pattern: `*` stands for any text in a
 * name, `?` for one character, `**` for any folders. Symbolic links are left out.
 */
export function listFiles(folderOrPattern: string): string[];
/** Returns a file as an asset. */
export function file(path: string): Asset;
/** Returns a folder with all its files as an asset. */
export function archive(folder: string): Asset;
/**
 * Returns a source file as the inline code of a Lambda function: `Code: inlineCode("lambda/orders.js")`. Lambda names the file
 * `index`, so that the handler is `index.handler`. The code is one file for Node.js (CommonJS) or Python, of at most 250,000
 * characters as JSON; a larger package or one with dependencies is uploaded to S3 and named with `S3Bucket` and `S3Key`.
 */
export function inlineCode(path: string): { ZipFile: string };

declare global {
  /** Returns a deep copy of data. */
  function structuredClone<T>(value: T): T;
  /** Returns the base64 text of characters up to U+00FF; for other text, see `base64` in module "stead". */
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

  /** Output goes to stderr, with file and line. */
  var console: {
    log(...values: unknown[]): void;
    info(...values: unknown[]): void;
    debug(...values: unknown[]): void;
    warn(...values: unknown[]): void;
    error(...values: unknown[]): void;
  };
}

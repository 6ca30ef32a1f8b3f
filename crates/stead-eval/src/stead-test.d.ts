/** A value that is known only after apply. */
export class Unknown {
  private constructor();
  /** Properties that the value depends on: `"main:aws.s3.Bucket.Arn"`. */
  readonly of: readonly string[];
  /** The value as an expression: `` "jobs-${main:aws.s3.Bucket.BucketName}" ``. */
  readonly text: string;
}

/** A secret. A test sees its origin, never its value. */
export class Secret {
  private constructor();
  /** Origin of the secret: ``"config `password`"``. */
  readonly from: string;
}

/** A problem that Stead reported. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

/** The program does not evaluate, or a plan is refused. */
export class Refused extends Error {
  private constructor();
  /** Code of the first problem: `"ST0104"`. */
  readonly code: string;
  readonly codes: readonly string[];
  readonly problems: readonly Problem[];
}

export class AssertionError extends Error {
  private constructor();
}

/** Data that a test gives to the program, and the stack that the program is declared for. */
export interface DeclareOptions {
  /** Environment, or `environment:namespace` [default: the one of stead.toml]. */
  env?: string;
  namespace?: string;
  target?: string;
  /** Values over those of stead.toml. `null` removes a value, also inside a table or by its path: `{ "db.size": null }`. */
  config?: { readonly [key: string]: unknown };
  /** Another entry point than `main` of stead.toml. */
  main?: string;
  /** Variables that `process.env` has: only those that stead.toml grants. Without this option there is none. */
  environment?: { readonly [name: string]: string };
  /** Texts of files, in place of those of the project. */
  files?: { readonly [path: string]: string };
  /** Answers of `Type.get(id)`: by type and id, the properties. */
  lookups?: { readonly [type: string]: { readonly [id: string]: { readonly [property: string]: unknown } } };
  /** Answers of `stack(project).outputs`: by project, or `project:environment`. */
  stacks?: { readonly [project: string]: { readonly [output: string]: unknown } };
  /** Allows `?:`, `&&`, `||`, `??` on values known only after apply. */
  allowUnknownBranches?: boolean;
}

/** A declared resource or group. */
export interface DeclaredResource {
  /** Name without the environment: `"main/Upload:aws.s3.Bucket"`. */
  readonly name: string;
  readonly fullName: string;
  readonly type: string;
  readonly module?: string;
  /** Enclosing instances: `"Network#main/Subnet"`; empty at the top level. */
  readonly scope?: string;
  readonly id?: string;
  readonly gid?: string;
  readonly group: boolean;
  /** Properties that the program sets. Values known only after apply are `Unknown`, secrets are `Secret`. */
  readonly inputs: { readonly [property: string]: any };
  readonly pinned: boolean;
  readonly preventDelete: boolean;
  readonly deletionPolicy: "delete" | "retain";
  /** Names given as `dependsOn`. */
  readonly dependsOn: readonly string[];
  /** Names of all resources that must exist first. */
  readonly dependencies: readonly string[];
  readonly parent?: string;
  readonly provider?: string;
  readonly options: { readonly [option: string]: any };
  /** Place of the declaration: `"main.ts:3:14"`. */
  readonly source: string;
}

export interface ResourceFilter {
  type?: string;
  module?: string;
  scope?: string;
  id?: string;
  pinned?: boolean;
  group?: boolean;
}

/** The program as one evaluation declares it. */
export interface App {
  readonly env: string;
  readonly namespace?: string;
  readonly project: string;
  readonly target: string;
  readonly config: { readonly [key: string]: any };
  /** Exports of the entry point. */
  readonly outputs: { readonly [name: string]: any };
  /** All declared resources and groups, in the order of the program. */
  readonly resources: readonly DeclaredResource[];
  /** Returns the resource with this name, with or without the environment. Fails if there is none. */
  find(name: string): DeclaredResource;
  all(filter?: ResourceFilter): readonly DeclaredResource[];
  toMatchSnapshot(hint?: string): void;
}

export interface Change {
  readonly path: string;
  readonly old?: any;
  readonly new?: any;
  /** The change cannot be made in place. */
  readonly replaces: boolean;
}

export interface Step {
  readonly kind: "create" | "update" | "replace" | "delete" | "import" | "move" | "record" | "forget";
  readonly name: string;
  readonly fullName: string;
  readonly type: string;
  readonly changes: readonly Change[];
  /** Properties that force a replacement. */
  readonly forcedBy: readonly string[];
  /** The replacement depends on a value that is known only after apply. */
  readonly possible: boolean;
  /** Earlier name of a moved resource. */
  readonly from?: string;
  readonly source: string;
}

/** The changes that lead from one version of the program, or from a state, to another. */
export interface Plan {
  readonly steps: readonly Step[];
  readonly summary: { readonly create: number; readonly update: number; readonly replace: number; readonly delete: number; readonly unchanged: number };
  readonly outputChanges: readonly Change[];
  /** Why the guards forbid the plan; undefined if they permit it. */
  readonly refusal?: Refused;
  /** False if the pinfile forbids the program before there is a plan. Then there are no steps. */
  readonly complete: boolean;
  /** Returns the first step of a resource; undefined if the resource stays as it is. */
  step(name: string): Step | undefined;
  toMatchSnapshot(hint?: string): void;
}

/** A version of the program, or a state. */
export interface Version {
  readonly source: string;
}

/** Evaluates the program in an interpreter of its own, as `stead plan` does. */
export function declare(options?: DeclareOptions): App;
/** The program in a commit, branch or tag of the Git repository. Packages are those that are installed now. */
export function gitRef(ref: string): Version;
/** The program in another folder, seen from the folder with stead.toml. */
export function folder(path: string): Version;
/** A file that `stead stack export` wrote, seen from the folder with stead.toml. */
export function state(path: string): Version;
/** A stack without resources. */
export const nothing: Version;

/**
 * Plans the changes from one version (default: nothing) to another (default: the current program). No provider is called:
 * placeholders of the schema's form stand for their answers.
 */
export function plan(options?: DeclareOptions & { from?: App | Version; to?: App | Version }): Plan;
/** Plans the changes from an earlier version to the current program. */
export function upgrade(from: App | Version, options?: DeclareOptions): Plan;

/** Settings of an embedded cloud. Times are in milliseconds of a simulated clock: a test does not wait for them. */
export interface CloudSettings {
  /** Seed of the identifiers that the cloud makes [default: 0]. */
  seed?: number;
  /** Time from the acceptance of an operation to its end [default: 0]. */
  operations?: number;
  /** Time for which reads still return what was before a change [default: 0]. */
  consistency?: number;
  /** Calls per second that an account may make in a region [default: no limit]. */
  rate?: number;
  /** False turns the quotas of services off. */
  quotas?: boolean;
  /** False turns the check of references between resources off. */
  references?: boolean;
}

/** A resource that exists in an embedded cloud. */
export interface CloudResource {
  /** Published type: `"AWS::S3::Bucket"`. */
  readonly type: string;
  /** Primary identifier; parts are joined by `|`. */
  readonly id: string;
  readonly account: string;
  readonly region: string;
  /** Properties that a read returns. Secrets are `"[secret]"`. */
  readonly properties: { readonly [property: string]: any };
}

/** Way in which a call fails. `{ fails }` is an operation that is accepted and ends with this code of a handler. */
export type Fault =
  | "throttled" | "internal-error" | "unavailable" | "lost-before" | "lost-after" | "expired-token" | "half-made" | "slow" | "stale"
  | { readonly fails: "NotUpdatable" | "InvalidRequest" | "AccessDenied" | "InvalidCredentials" | "AlreadyExists" | "NotFound" | "ResourceConflict" | "Throttling" | "ServiceLimitExceeded" | "NotStabilized" | "GeneralServiceException" | "ServiceInternalError" | "NetworkFailure" | "ServiceTimeout" | "InternalFailure" };

/** An embedded cloud. Types are `"AWS::S3::Bucket"` or `"aws.s3.Bucket"`. */
export interface Cloud {
  /** Returns the resources that exist, of one type or all, in the order of their names. */
  resources(type?: string): readonly CloudResource[];
  /** Returns all properties of a resource, write-only ones too; undefined if there is none. Secrets are `"[secret]"`. */
  model(type: string, id: string): { readonly [property: string]: any } | undefined;
  /** Creates a resource, as a person in a console would, and returns its identifier. */
  create(type: string, properties?: { readonly [property: string]: unknown }): string;
  /** Changes a resource behind the stack's back: properties to set (`null` removes one), or a JSON Patch. */
  drift(type: string, id: string, change: { readonly [property: string]: unknown } | readonly object[]): void;
  /** Removes a resource behind the stack's back, even if others use it. */
  remove(type: string, id: string): void;
  /** Puts things into a resource, such as objects into a bucket. It cannot be deleted before they are gone. */
  fill(type: string, id: string, count: number): void;
  /** Lets the next calls that fit fail. */
  failNext(fault: Fault, which?: { call?: string; type?: string; times?: number }): void;
  /** Lets a share of all calls fail from now on, the same ones for the same seed; without an argument, none. */
  faults(plan?: { seed: number; rate: number }): void;
  /** Number of calls so far, by name: `{ CreateResource: 3 }`. */
  readonly calls: { readonly [call: string]: number };
}

/** A difference between a record and the resource that exists. */
export interface Drift {
  readonly name: string;
  /** The resource does not exist any more. */
  readonly gone: boolean;
  readonly changes: readonly Change[];
}

/** A plan on a stack of a test. */
export interface StackPlan extends Plan {
  /** Changes that were made outside, if the plan read the resources (`refresh: true`). */
  readonly drift: readonly Drift[];
}

/** A plan that was applied, or that a guard refused. */
export interface Run extends StackPlan {
  readonly result: "succeeded" | "failed" | "in_doubt" | "interrupted" | "refused";
  /** Why steps failed. A failed run can be applied again. */
  readonly problems: readonly Problem[];
  /** Number of steps that were carried out, and of those that did not start. */
  readonly done: number;
  readonly skipped: number;
  /** Outputs of the stack. Secrets are `"[secret]"`. */
  readonly outputs: { readonly [name: string]: any };
}

/** A recorded resource of a stack. */
export interface RecordedResource {
  readonly name: string;
  readonly type: string;
  /** Identifier in the cloud. */
  readonly id?: string;
  readonly pinned: boolean;
  readonly inputs: { readonly [property: string]: any };
  readonly outputs: { readonly [property: string]: any };
}

export interface RunOptions extends Omit<DeclareOptions, "env" | "namespace" | "target"> {
  /** Version to apply [default: the current program]. */
  to?: App | Version;
  /** Reads all resources first, as `--refresh` does. */
  refresh?: boolean;
  /** Releases orphaned pins, as `--update-pins` does. */
  updatePins?: boolean;
  /** Names of resources that may be taken from another stack. */
  takeOver?: readonly string[];
}

/** A stack in memory, on an embedded cloud. */
export interface Stack {
  readonly cloud: Cloud;
  /** Plans what `apply` would do. */
  plan(options?: RunOptions): StackPlan;
  /** Plans, asks the guards and applies, as `stead up --yes` does. */
  apply(options?: RunOptions): Run;
  /** Deletes all recorded resources, as `stead destroy --yes` does. */
  destroy(options?: RunOptions): Run;
  /** Records what was changed outside, as `stead refresh --yes` does, and returns it. */
  refresh(): readonly Drift[];
  /** Recorded resources, sorted by name. */
  readonly resources: readonly RecordedResource[];
  /** Returns the record with this name, with or without the environment. Fails if there is none. */
  find(name: string): RecordedResource;
  /** Text of the pinfile as the last run left it; undefined if there is none. */
  readonly pinfile?: string;
}

/** Returns an embedded cloud without resources. */
export function freshCloud(settings?: CloudSettings): Cloud;
/**
 * Returns a stack without resources, on a cloud of its own or on a given one. The options apply to every plan and run of the
 * stack. Nothing of the project's own state is read or changed.
 */
export function freshStack(options?: DeclareOptions & { cloud?: Cloud }): Stack;

/** Stands for a value known only after apply in `toEqual` and the like; with a name, for one that depends on that property. */
export function unknownOf(property?: string): any;

type Body = () => void | Promise<void>;

export interface TestFunction {
  (name: string, body: Body): void;
  /** Registers a test that does not run. */
  skip(name: string, body?: Body): void;
  /** Runs only tests that are registered like this. */
  only(name: string, body: Body): void;
  /** Registers a test that has no code yet. */
  todo(name: string, body?: Body): void;
  /** Registers a test for each row; `%s` and `$key` in the name are filled. */
  each<Row>(rows: readonly Row[]): (name: string, body: (...row: Row extends readonly unknown[] ? Row : [Row]) => void | Promise<void>) => void;
}

export const test: TestFunction;
export const it: TestFunction;
/** Groups tests. Hooks inside it apply to its tests alone. */
export const describe: TestFunction;
export function beforeEach(body: Body): void;
export function afterEach(body: Body): void;
export function beforeAll(body: Body): void;
export function afterAll(body: Body): void;

export interface Matchers<Result> {
  /** The same value, as `Object.is` compares. */
  toBe(expected: unknown): Result;
  /** Equal data; members that are undefined do not count. */
  toEqual(expected: unknown): Result;
  toStrictEqual(expected: unknown): Result;
  /** Has at least these members. */
  toMatchObject(expected: object): Result;
  toContain(item: unknown): Result;
  toContainEqual(item: unknown): Result;
  toHaveLength(length: number): Result;
  toHaveProperty(path: string | readonly string[], value?: unknown): Result;
  toBeDefined(): Result;
  toBeUndefined(): Result;
  toBeNull(): Result;
  toBeTruthy(): Result;
  toBeFalsy(): Result;
  toBeGreaterThan(than: number): Result;
  toBeGreaterThanOrEqual(than: number): Result;
  toBeLessThan(than: number): Result;
  toBeLessThanOrEqual(than: number): Result;
  toBeCloseTo(expected: number, digits?: number): Result;
  toBeInstanceOf(type: abstract new (...args: any[]) => unknown): Result;
  toMatch(pattern: string | RegExp): Result;
  /** The function throws: an error with this text, of this pattern or of this class. */
  toThrow(expected?: string | RegExp | Error | (abstract new (...args: any[]) => unknown)): Result;
  /** The program does not evaluate, or the guards forbid the plan: for a reason with this code. */
  toBeRefused(code?: string): Result;
  /** The run was carried out: no guard refused it, and no step failed. */
  toSucceed(): Result;
  /** The value is known only after apply; with a name, it depends on that property. */
  toBeUnknown(property?: string): Result;
  toBeSecret(): Result;
  /** Equals the recorded value in `__snapshots__`. */
  toMatchSnapshot(hint?: string): Result;
  /** The plan replaces no resource. */
  toReplaceNothing(): Result;
  /** The plan deletes no resource. */
  toDeleteNothing(): Result;
  /** The plan has no step. */
  toChangeNothing(): Result;
}

export interface Expectation extends Matchers<void> {
  readonly not: Omit<Matchers<void>, "toMatchSnapshot">;
  readonly resolves: Matchers<Promise<void>>;
  readonly rejects: Matchers<Promise<void>>;
}

export interface Expect {
  (received: unknown): Expectation;
  anything(): any;
  any(type: (abstract new (...args: any[]) => unknown) | ((...args: any[]) => unknown)): any;
  objectContaining(some: object): any;
  arrayContaining(some: readonly unknown[]): any;
  stringContaining(text: string): any;
  stringMatching(pattern: string | RegExp): any;
}

export const expect: Expect;

// Project files as text and as assets. The graph holds path and digest of an asset.

import { host, NativeError, freeze, toText } from "stead:host";
import { refusal } from "stead:unknown";
import { needed } from "stead:encoding";

// Key that marks special values in data, and its values for assets and archives.
const SIGNATURE = "4dabf18193072939515e22adb298388d";
const ASSET = "c44067f5952c0a294b673a41bacd8c17";
const ARCHIVE = "0def7320c3a5731c473e5ecbe6d01bc7";

function checked(answer) {
  if (answer.problem !== undefined) throw refusal(answer.problem);
  return answer;
}

const asset = (kind, answer) => {
  const { path, hash } = checked(answer);
  return freeze({ [SIGNATURE]: kind, path, hash });
};

// Cloud Control takes 262,144 characters for a whole function; its other properties need some of them.
const INLINE_LIMIT = 250_000;

const nativeParse = JSON.parse;
const nativeStringify = JSON.stringify;
const read = (format, path, name) => checked(host.readData(toText(needed(path, name)), format, new NativeError().stack)).value;

export const { readText, readBytes, readJson, readYaml, readToml, listFiles, file, archive, inlineCode } = {
  readBytes(path) {
    return checked(host.readBytes(toText(needed(path, "readBytes")), new NativeError().stack)).bytes;
  },
  readJson(path) {
    const { stack } = new NativeError();
    const { text } = checked(host.readText(toText(needed(path, "readJson")), stack));
    try {
      return nativeParse(text);
    } catch {
      // Rust finds the place of the error.
      checked(host.readData(toText(path), "json", stack));
      throw new NativeError(`\`${path}\` is not valid JSON`);
    }
  },
  readYaml: (path) => read("yaml", path, "readYaml"),
  readToml: (path) => read("toml", path, "readToml"),
  listFiles(pattern) {
    return checked(host.listFiles(toText(needed(pattern, "listFiles")), new NativeError().stack)).files;
  },
  readText(path) {
    return checked(host.readText(toText(needed(path, "readText")), new NativeError().stack)).text;
  },
  file(path) {
    return asset(ASSET, host.fileAsset(toText(needed(path, "file")), new NativeError().stack));
  },
  inlineCode(path) {
    const { text } = checked(host.readText(toText(needed(path, "inlineCode")), new NativeError().stack));
    const { length } = nativeStringify(text);
    if (length > INLINE_LIMIT) {
      throw new NativeError(
        `\`${path}\` is too large for inline code: ${length} characters as JSON, and ${INLINE_LIMIT} are possible; upload a package to S3, and name it with \`S3Bucket\` and \`S3Key\``,
      );
    }
    return freeze({ ZipFile: text });
  },
  archive(folder) {
    return asset(ARCHIVE, host.archiveAsset(toText(needed(folder, "archive")), new NativeError().stack));
  },
};

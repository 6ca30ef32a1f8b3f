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

export const { readText, file, archive } = {
  readText(path) {
    return checked(host.readText(toText(needed(path, "readText")), new NativeError().stack)).text;
  },
  file(path) {
    return asset(ASSET, host.fileAsset(toText(needed(path, "file")), new NativeError().stack));
  },
  archive(folder) {
    return asset(ARCHIVE, host.archiveAsset(toText(needed(folder, "archive")), new NativeError().stack));
  },
};

// `resolve` of node:url: one URL seen from another, with the rules of Node.js for protocols without `//`.
"use strict";

// Removes `.` and `..` from the parts of a path; returns the number of `..` that lead above its start.
function withoutDots(parts) {
  let up = 0;
  for (let i = parts.length - 1; i >= 0; i--) {
    if (parts[i] === "." || parts[i] === "..") {
      if (parts[i] === "..") up++;
      parts.splice(i, 1);
    } else if (up > 0) {
      parts.splice(i, 1);
      up--;
    }
  }
  return up;
}
const withPath = (url) => {
  if (url.pathname !== null || url.search !== null) url.path = (url.pathname || "") + (url.search || "");
};
const finished = (url) => {
  url.href = url.format();
  return url;
};
// Takes the host from the first part of a path, where protocols without `//` keep it.
function takeHost(url, name) {
  url.hostname = url.host = name;
  const split = name && name.indexOf("@") > 0 ? name.split("@") : undefined;
  if (split !== undefined) [url.auth, url.host, url.hostname] = [split[0], split[1], split[1]];
}

function otherProtocol(url, to, slashed, hostless) {
  if (!slashed.has(to.protocol)) return finished(Object.assign(url, to));
  url.protocol = to.protocol;
  if (!to.host && !/^file:?$/.test(to.protocol) && !hostless.has(to.protocol)) {
    const parts = (to.pathname || "").split("/");
    while (parts.length > 0 && !(to.host = parts.shift()));
    to.host ||= "";
    to.hostname ||= "";
    if (parts[0] !== "") parts.unshift("");
    if (parts.length < 2) parts.unshift("");
    url.pathname = parts.join("/");
  } else url.pathname = to.pathname;
  Object.assign(url, {
    search: to.search, query: to.query, host: to.host || "", auth: to.auth, hostname: to.hostname || to.host, port: to.port,
    slashes: url.slashes || to.slashes,
  });
  if (url.pathname || url.search) url.path = (url.pathname || "") + (url.search || "");
  return finished(url);
}

/** Returns `to` seen from `from`, both parsed. */
exports.resolve = (from, to, Url, slashed, hostless) => {
  const url = Object.assign(new Url(), from);
  url.hash = to.hash;
  if (to.href === "") return finished(url);
  if (to.slashes && !to.protocol) {
    const { protocol, ...rest } = to;
    Object.assign(url, rest);
    if (slashed.has(url.protocol) && url.hostname && !url.pathname) url.path = url.pathname = "/";
    return finished(url);
  }
  if (to.protocol && to.protocol !== url.protocol) return otherProtocol(url, to, slashed, hostless);
  return join(url, to, url.protocol && !slashed.has(url.protocol));
};

// Joins the paths of two URLs. `bare` is true for a protocol without `//`, whose host counts as the first part of the path.
function join(url, to, bare) {
  const fromRoot = url.pathname && url.pathname[0] === "/";
  const toRoot = to.host || (to.pathname && to.pathname[0] === "/");
  let absolute = toRoot || fromRoot || (url.host && to.pathname);
  const closed = absolute;
  let parts = (url.pathname && url.pathname.split("/")) || [];
  const added = (to.pathname && to.pathname.split("/")) || [];
  if (bare) {
    [url.hostname, url.port] = ["", null];
    if (url.host) parts[0] === "" ? (parts[0] = url.host) : parts.unshift(url.host);
    url.host = "";
    if (to.protocol) {
      [to.hostname, to.port, url.auth] = [null, null, null];
      if (to.host) added[0] === "" ? (added[0] = to.host) : added.unshift(to.host);
      to.host = null;
    }
    absolute = absolute && (added[0] === "" || parts[0] === "");
  }
  if (toRoot) {
    if (to.host || to.host === "") {
      if (url.host !== to.host) url.auth = null;
      [url.host, url.port] = [to.host, to.port];
    }
    if (to.hostname || to.hostname === "") {
      if (url.hostname !== to.hostname) url.auth = null;
      url.hostname = to.hostname;
    }
    [url.search, url.query, parts] = [to.search, to.query, added];
  } else if (added.length > 0) {
    parts.pop();
    [url.search, url.query, parts] = [to.search, to.query, parts.concat(added)];
  } else if (to.search !== null && to.search !== undefined) {
    if (bare) takeHost(url, parts.shift());
    [url.search, url.query] = [to.search, to.query];
    withPath(url);
    return finished(url);
  }
  if (parts.length === 0) {
    url.pathname = null;
    url.path = url.search ? `/${url.search}` : null;
    return finished(url);
  }
  return place(url, to, parts, { bare, absolute, closed });
}

function place(url, to, parts, { bare, absolute, closed }) {
  const last = parts[parts.length - 1];
  const slash = ((url.host || to.host || parts.length > 1) && (last === "." || last === "..")) || last === "";
  let up = withoutDots(parts);
  if (!absolute && !closed) while (up-- > 0) parts.unshift("..");
  if (absolute && parts[0] !== "" && (!parts[0] || parts[0][0] !== "/")) parts.unshift("");
  if (slash && !parts.join("/").endsWith("/")) parts.push("");
  const rooted = parts[0] === "" || (parts[0] && parts[0][0] === "/");
  if (bare) takeHost(url, rooted ? "" : parts.length > 0 ? parts.shift() : "");
  if ((absolute || (url.host && parts.length > 0)) && !rooted) parts.unshift("");
  if (parts.length === 0) url.pathname = url.path = null;
  else url.pathname = parts.join("/");
  withPath(url);
  url.auth = to.auth || url.auth;
  url.slashes = url.slashes || to.slashes;
  return finished(url);
}

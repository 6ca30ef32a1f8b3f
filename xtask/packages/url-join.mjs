import urlJoin from "url-join";
export const result = [urlJoin("http://www.google.com", "a", "/b/cd", "?foo=123", "?bar=foo"), urlJoin("file:///x", "y/", "/z"), urlJoin(["a", "b"])];

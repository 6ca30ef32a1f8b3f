import mime from "mime-types";
import { lookup, contentType } from "mime-types";
export const result = [lookup("x.json"), lookup(".md"), contentType("markdown"), mime.extension("text/html"), mime.charset("text/markdown"), lookup("nothing.unknownext"), mime.types.png];

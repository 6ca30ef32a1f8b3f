import { XMLParser, XMLBuilder } from "fast-xml-parser";
const parsed = new XMLParser({ ignoreAttributes: false }).parse('<?xml version="1.0"?><a x="1"><b>2</b><b>three</b><c><![CDATA[<d>]]></c></a>');
export const result = [parsed, new XMLBuilder({ ignoreAttributes: false, format: true }).build({ r: { "@_id": 1, item: ["x", "y & z"] } })];

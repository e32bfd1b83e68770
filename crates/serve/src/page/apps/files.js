// Files that a person keeps: a view has no right to give any, its host may.

import { can, request } from "./host.js";

/** Whether anything can be kept here. */
export const canKeep = () => Boolean(can.downloadFile);

/** Has the host keep a text or an image under a name. */
export async function keep(name, parts, type) {
  const resource = { uri: `file:///${encodeURIComponent(name)}`, mimeType: type };
  if (typeof parts === "string") resource.text = parts;
  else resource.blob = btoa(Array.from(new Uint8Array(await parts.arrayBuffer()), (byte) => String.fromCharCode(byte)).join(""));
  await request("ui/download-file", { contents: [{ type: "resource", resource }] });
}

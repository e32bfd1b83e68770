// Saves files through the host, since a view may not.

import { can, request } from "./host.js";

/** Whether files can be saved here. */
export const canKeep = () => Boolean(can.downloadFile);

/** Asks the host to save a text or an image as a file. */
export async function keep(name, parts, type) {
  const resource = { uri: `file:///${encodeURIComponent(name)}`, mimeType: type };
  if (typeof parts === "string") resource.text = parts;
  else resource.blob = btoa(Array.from(new Uint8Array(await parts.arrayBuffer()), (byte) => String.fromCharCode(byte)).join(""));
  await request("ui/download-file", { contents: [{ type: "resource", resource }] });
}

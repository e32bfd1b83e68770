#!/usr/bin/env node
// Starts the program of the package for this platform, and exits with its status.
"use strict";

const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const name = process.platform === "win32" ? "planner.exe" : "planner";
let program;
try {
  program = require.resolve(`prospector-planner-${platform}/${name}`);
} catch {
  console.error(
    `error: there is no package prospector-planner-${platform}: either there is no planner for this platform, ` +
      "or it was installed without optional dependencies",
  );
  process.exit(2);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends an interrupt to the program itself; other signals are forwarded to it.
const passed = { SIGINT: false, SIGTERM: true, SIGHUP: true };
for (const signal of Object.keys(passed)) {
  process.on(signal, () => passed[signal] && child.kill(signal));
}
child.on("error", (error) => {
  console.error(`error: ${program} cannot be started: ${error.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});

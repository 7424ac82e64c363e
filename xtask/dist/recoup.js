#!/usr/bin/env node
// Starts the program in the package for this platform. Clients are told the program's own path
// (`recoup init`), so that they do not pay for a start of Node.js.
"use strict";

const { spawn } = require("node:child_process");

const platform = `recoup-${process.platform}-${process.arch}`;

function locate() {
  try {
    return require.resolve(`${platform}/bin/recoup`);
  } catch {
    console.error(
      `recoup: the package ${platform} is not installed. Either npm left out optional ` +
        "dependencies (install again without --omit=optional), or there is no package for this " +
        "platform: then build it from the source with Rust, `cargo install --path crates/recoup`.",
    );
    process.exit(1);
  }
}

const child = spawn(locate(), process.argv.slice(2), { stdio: "inherit" });
// A terminal sends these to both; the program decides what they mean.
for (const signal of ["SIGINT", "SIGQUIT"]) process.on(signal, () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`recoup: ${error.message}`);
  process.exit(126);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});

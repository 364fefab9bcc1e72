import { App } from "./app";
import { say } from "./views/announce";

new App().start().catch((error: unknown) => {
  const reason = error instanceof Error ? error.message : String(error);
  say(
    `The page could not start (${reason}). Is the connection gone? Reload to try again.`,
    "problem",
  );
});

import { defineConfig } from "vitest/config";

/** Relative addresses, nothing inlined (a strict Content-Security-Policy), names without hashes. */
export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/entrain/playground/page",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
      },
    },
  },
  test: { include: ["tests/**/*.test.ts"] },
});

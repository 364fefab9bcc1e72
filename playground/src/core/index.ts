/** The computing core of the playground: everything that is not the page itself. */
export type { Model, Physics, Pixels, Rollout } from "./types";
export { readGallery } from "./gallery";
export type { Gallery, GalleryImage } from "./gallery";
export { effectiveCouplings, effectiveFields } from "./hardware";
export { EmptyImage, fieldsOf, inputsOf, readModel } from "./model";
export { normals, philox } from "./noise";
export { fromRgba, normalisePolarity, prepare } from "./picture";
export { strongest } from "./quantities";
export { parseSafetensors } from "./safetensors";
export { margin, scoresOf, simulate, unchangedPhysics } from "./simulate";

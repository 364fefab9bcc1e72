/** The computing core of the playground: everything that is not the page itself. */
export type { Model, NetworkParameters, Physics, Pixels, Rollout } from "./types";
export { checkDigest } from "./digest";
export { readGallery } from "./gallery";
export type { Gallery, GalleryImage } from "./gallery";
export { effectiveCouplings, effectiveFields } from "./hardware";
export { EmptyImage, fieldsOf, inputsOf, readModel } from "./model";
export { normals, philox } from "./noise";
export { fromRgba, normalisePolarity, prepare } from "./picture";
export { strongest, termsOf } from "./quantities";
export { margin, scoresOf, winnerAt } from "./readout";
export { parseSafetensors } from "./safetensors";
export { simulate, unchangedPhysics } from "./simulate";

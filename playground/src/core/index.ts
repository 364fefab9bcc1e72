/** The computing core of the playground: everything that is not the page itself. */
export type {
  FeatureScaling,
  Given,
  Model,
  NetworkParameters,
  PhaseModel,
  Physics,
  Pixels,
  Rollout,
  Shape,
} from "./types";
export { checkDigest } from "./digest";
export { readGallery, testImages } from "./gallery";
export type { Gallery, GalleryImage } from "./gallery";
export { effectiveCouplings, effectiveFields, phaseModelOf } from "./damage";
export { EFFECTS, checkedHardware } from "./hardware/hardware";
export type { Hardware } from "./hardware/hardware";
export { fieldsOn } from "./hardware/realised";
export type { Realised } from "./hardware/realised";
export { misfitOf, onChip, realise } from "./hardware/realise";
export { isExact } from "./hardware/readout";
export { graphOf } from "./hardware/wiring";
export { MOST_OSCILLATORS, UnfitModel, fieldsOf, readModel } from "./model";
export { normals, philox } from "./noise";
export { couplingOrder } from "./order";
export { framed, fromRgba, normalisePolarity, prepare, preparePicture } from "./picture";
export { UnfitInput, inputsOf, meanRow, valueAt } from "./preprocessing";
export { placeIn, planeOf, stateOf as projectedState } from "./projection";
export type { Plane } from "./projection";
export { orderParameter, pullsOf } from "./pulls";
export type { Pulls } from "./pulls";
export { strongest, termsOf } from "./quantities";
export { DECISIVE_LEAD, highestOf, leadersOf, margin, scoresOf } from "./readout";
export { distanceOf, doubtOf } from "./reject";
export { parseSafetensors } from "./safetensors";
export { simulate, unchangedPhysics } from "./simulate";

/** The state with which a network is opened: from the address, a name or a file; or why it is not. */

import { UnfitModel, testImages, type Gallery } from "./core";
import { readAddress } from "./address";
import { Unreachable, type Models } from "./models";
import { FIRST_NETWORK, firstPicture, stateOf, type AppState, type Network } from "./state";
import { say } from "./views/announce";

export class Opening {
  /** While `isShown` is false a connection that fails is the page's failure. */
  constructor(
    private readonly models: Models,
    private readonly gallery: Gallery,
    private readonly isShown: () => boolean,
  ) {}

  /** The state of the address, else the model that was given, else the first that is shipped. */
  async first(): Promise<AppState> {
    const linked = await this.linked();
    if (linked !== null) return linked;
    const { first } = this.models;
    const given = first && (await this.orProblem(this.network({ ...FIRST_NETWORK, ...first })));
    return given ?? this.network(FIRST_NETWORK);
  }

  /** The state of the address, null if it holds none. */
  linked(): Promise<AppState | null> {
    return this.orProblem(readAddress(this.models, this.gallery));
  }

  async network(network: Network): Promise<AppState> {
    const [model] = await this.models.load(network);
    return stateOf(network, firstPicture(model!, testImages(this.gallery, model!).length));
  }

  /** What comes, or null where its model cannot be shown, which is said. */
  async orProblem<T>(coming: Promise<T>): Promise<T | null> {
    try {
      return await coming;
    } catch (error) {
      this.explain(error);
      return null;
    }
  }

  /** Says why a network is not shown; throws what is no reason for that. */
  explain(error: unknown): void {
    if (error instanceof UnfitModel) say(`This page cannot show ${error.message}.`, "problem");
    else if (error instanceof Unreachable && this.isShown())
      say("This network could not be loaded. Is the connection gone?", "problem");
    else throw error;
  }
}

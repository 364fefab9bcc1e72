/** The run that is shown, in time: oscillators, verdict, curves and the inside, from t = 0 to t_f. */

import type { Landscape } from "./engine/landscape";
import { hook, reducedMotion } from "./dom";
import type { Later } from "./later";
import type { Outcome } from "./run";
import type { AppState } from "./state";
import { speakLater } from "./views/announce";
import { BarVerdict } from "./views/barVerdict";
import { Inside } from "./views/inside";
import type { InspectorEvents } from "./views/inspector";
import { revealAt, type Moment } from "./views/moment";
import { Oscillators } from "./views/oscillators";
import { Pace } from "./views/pace";
import { Panel } from "./views/panel";
import { Score } from "./views/score";
import { Timeline } from "./views/timeline";
import { Verdict, spokenOf } from "./views/verdict";
import { trainingName } from "./words";

/** What happens to the time when a run comes: it plays, the end is shown at once (while a slider moves),
 * or the start (while one draws), or a share of t_f (from a link), or it stays. */
export type Then = "play" | "end" | "start" | "stay" | number;

/** What is painted beside the verdict. */
const VIEWS = ["oscillators", "panels", "inside"] as const;

export interface SceneEvents extends InspectorEvents {
  /** An oscillator was clicked; `toggle` where a second click lets it go. */
  onSelect(oscillator: number, toggle: boolean): void;
}

export class Scene {
  private outcomes: Outcome[] = [];
  private state: AppState | null = null;
  private revealed = false; // the verdict is made
  private now = { fraction: 0, at: 0, still: true }; // what is shown of the run
  private renewals: (() => void)[] = []; // of the views that do not show the last outcomes yet
  private waits = false; // views come in later frames

  private readonly timeline = new Timeline((fraction, at, still) =>
    this.showTime(fraction, at, still),
  );
  private readonly oscillators: Oscillators;
  private readonly inside: Inside;
  private readonly panels = ["", "-other"].map(
    (suffix) => new Panel(suffix, (t) => this.timeline.seek(t)),
  );
  private readonly verdicts = ["", "-other"].map((suffix) => new Verdict(suffix));
  private readonly score = new Score();
  private readonly pace = new Pace();
  private readonly barVerdict = new BarVerdict();

  /** Views that wait for later frames are put into `later`. */
  constructor(
    events: SceneEvents,
    private readonly later: Later,
  ) {
    this.oscillators = new Oscillators({
      ...events,
      onSelect: (i) => events.onSelect(i, true),
      onLook: (i) => {
        this.inside.look(i);
        this.showTime(this.timeline.position, this.timeline.at, false);
      },
    });
    this.inside = new Inside((i) => events.onSelect(i, false));
  }

  /** The share of t_f that is shown. */
  get position(): number {
    return this.timeline.position;
  }

  /** The outcomes of a state, the chosen network's first; `truth` is the class of a test image. While
   * a slider moves, the verdict is shown at once and all else in the frames that follow. */
  show(state: AppState, outcomes: Outcome[], truth: number | null, then: Then): void {
    const [first] = outcomes;
    if (first === undefined) return;
    this.state = state;
    this.outcomes = outcomes;
    document.body.classList.toggle("comparing", outcomes.length > 1);
    this.verdicts.forEach((verdict, i) => {
      const outcome = outcomes[i];
      verdict.hidden = outcome === undefined;
      if (outcome !== undefined) verdict.show(outcome, truth);
    });
    this.barVerdict.show(first, truth);
    this.renewals[VIEWS.indexOf("oscillators")] = () => {
      this.oscillators.show(this.state!, first);
      this.describe(state, first);
    };
    this.renewals[VIEWS.indexOf("panels")] = () => this.showPanels(outcomes);
    this.renewals[VIEWS.indexOf("inside")] = () => this.inside.show(first);
    this.waits = then === "end";
    if (!this.waits) VIEWS.forEach((_, i) => this.renew(i));
    const { rollout, physics } = first;
    this.timeline.setSteps(rollout.steps, physics.observationTime, placeOf(then));
    this.waits = false;
    if (then === "play" && !reducedMotion()) this.timeline.play(true);
  }

  /** Another oscillator is in the inspector. */
  select(state: AppState): void {
    this.state = state;
    if (this.outcomes[0] !== undefined) this.oscillators.show(state, this.outcomes[0]);
  }

  /** The landscape of the network that is shown; null until it comes. */
  explore(landscape: Landscape | null): void {
    this.inside.explore(landscape);
  }

  /** The run from its start. */
  replay(): void {
    if (this.outcomes.length === 0) return;
    if (reducedMotion()) this.timeline.seek(1);
    else this.timeline.play(true);
  }

  /** Whose oscillators they are, and which run of an ensemble. */
  private describe(state: AppState, { model, rollout }: Outcome): void {
    const parts = [
      state.compare && `network ${trainingName(model)}`,
      rollout.replicates.length > 1 && `run 1 of ${rollout.replicates.length}`,
    ].filter((words) => typeof words === "string");
    hook("dials-of").textContent = parts.length === 0 ? "" : ` (${parts.join(", ")})`;
  }

  private showPanels(outcomes: Outcome[]): void {
    this.panels.forEach((panel, i) => {
      const outcome = outcomes[i];
      panel.hidden = outcome === undefined;
      if (outcome === undefined) return;
      panel.show(outcomes.length > 1 ? trainingName(outcome.model) : null, outcome);
    });
  }

  /** A view gets the last outcomes, if it has not got them. */
  private renew(view: number): void {
    const renewal = this.renewals[view];
    delete this.renewals[view];
    renewal?.();
  }

  private showTime(fraction: number, at: number, still: boolean): void {
    const [outcome] = this.outcomes;
    if (outcome === undefined || this.state === null) return;
    this.now = { fraction, at, still };
    this.outcomes.forEach((_, i) => this.verdicts[i]!.time(at, still));
    if (this.waits) VIEWS.forEach((name, i) => this.later.put(name, () => this.paint(i)));
    else this.pace.paint(VIEWS.map((_, i) => () => this.paint(i)), still);
    const revealed = at >= revealAt(outcome);
    if (revealed === this.revealed && !still) return;
    this.revealed = revealed;
    this.barVerdict.reveal(revealed);
    this.score.show(this.state.picture, revealed);
    if (revealed) speakLater(spokenOf(outcome));
  }

  /** A view of what is shown now. */
  private paint(view: number): void {
    this.renew(view);
    const { fraction, at } = this.now;
    if (VIEWS[view] === "oscillators") this.oscillators.at(this.moment());
    else if (VIEWS[view] === "inside") this.inside.at(this.moment());
    else this.outcomes.forEach((each, i) => this.panels[i]!.at(fraction, at >= revealAt(each)));
  }

  private moment(): Moment {
    const [outcome] = this.outcomes as [Outcome];
    const { at, still } = this.now;
    const n = outcome.model.hidden + outcome.model.outputs;
    return {
      outcome,
      acting: this.inside.actingOn(outcome),
      at,
      phases: outcome.rollout.phases.subarray(at * n, (at + 1) * n),
      revealed: at >= revealAt(outcome),
      still,
      shown: this.oscillators.lookedAt,
    };
  }
}

/** The share of t_f at which a run is shown first; null where the time stays. */
function placeOf(then: Then): number | null {
  if (then === "stay") return null;
  if (typeof then === "number") return then;
  return reducedMotion() || then === "end" ? 1 : 0;
}
